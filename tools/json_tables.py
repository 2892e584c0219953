"""The tables of docs/json.md, from the declarations of the documents."""

from burstwatch.cli.documents import COMMON, DOCUMENTS, FIELDS


def documents_table() -> str:
    """Each document, the command that prints it, and its fields beside those of all documents."""
    rows = [
        f"| `{name}` | `burstwatch {document.command}` | {document.when} | {', '.join(f'`{field}`' for field in document.fields)} |"
        for name, document in DOCUMENTS.items()
    ]
    head = ["| document | command | how often | fields |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


def fields_table() -> str:
    """Each field with its type and its meaning, those of all documents first."""
    names = [*COMMON, *sorted(set(FIELDS) - {*COMMON})]
    rows = [f"| `{name}` | {FIELDS[name].type} | {FIELDS[name].text} |" for name in names]
    return "\n".join(["| field | type | meaning |", "| --- | --- | --- |", *rows, ""])
