"""Writes the Terraform module's variables, the parameters of its stack and its page, from the template of plain CloudFormation. Run by `make gen`."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.dist import ROOT, plain_template_now

MODULE = ROOT / "terraform"
#: What the module sets itself.
OWN = ("CodeBucket", "CodeKey")
PAGE = """# burstwatch as a Terraform module

The module uploads the functions' package of a release into a bucket of yours and makes the stack of its template.
[Installing](../docs/installing.md#without-cdk) says what that stack has. A parser reads the module in the tests, and
an emulator of AWS gets its stack; Terraform itself has not run it.

```hcl
{example}```

## Variables

{variables}
## Outputs

{outputs}"""


def main() -> None:
    """Write the generated files."""
    with TemporaryDirectory() as folder:
        parameters = json.loads(plain_template_now(Path(folder)))["Parameters"]
    for name, text in files(parameters).items():
        (MODULE / name).write_text(text, encoding="utf-8")


def files(parameters: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The files by name, for the parameters of the template."""
    settings = {name: one for name, one in parameters.items() if name not in OWN}
    width = max(map(len, settings))
    stated = "".join(f"    {name:<{width}} = var.{snake(name)}\n" for name in settings)
    rows = "".join(
        f"| `{snake(name)}` | {'`' + str(one['Default']) + '`' if one['Default'] != '' else ''} | {_text(one)} |\n"
        for name, one in settings.items()
    )
    table = (
        "| variable | default | meaning |\n| --- | --- | --- |\n"
        "| `bucket` | required | a bucket in the region of the stack |\n"
        "| `release` | required | the folder with `burstwatch-template.json` and `burstwatch-lambda.zip` of a release |\n"
        "| `stack_name` | `Burstwatch` | the name of the stack |\n"
    )
    outputs = "".join(f"- `{name}`: {text}\n" for name, text in _outputs())
    example = (ROOT / "docs" / "examples" / "terraform" / "main.tf").read_text(encoding="utf-8")
    return {
        "settings.tf": "# Written by `make gen`: the parameters of the template.\nlocals {\n  settings = {\n"
        + stated
        + "  }\n}\n\n"
        + "\n".join(_variable(name, one) for name, one in settings.items()),
        "README.md": PAGE.format(example=example, variables=table + rows, outputs=outputs),
    }


def snake(name: str) -> str:
    """``lead_s`` of ``LeadS``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _variable(name: str, parameter: dict[str, Any]) -> str:
    """One variable, with a validation where the template has one."""
    is_number = parameter["Type"] == "Number"
    default = parameter["Default"] if is_number else _quoted(parameter["Default"])
    lines = [
        f'variable "{snake(name)}" {{',
        f"  description = {_quoted(_text(parameter))}",
        f"  type        = {'number' if is_number else 'string'}",
        f"  default     = {default}",
    ]
    condition, allowed = _condition(f"var.{snake(name)}", parameter)
    if condition:
        lines += [
            "",
            "  validation {",
            f"    condition     = {condition}",
            f"    error_message = {_quoted(f'{snake(name)}: allowed is {allowed}.')}",
            "  }",
        ]
    return "\n".join([*lines, "}", ""])


def _condition(value: str, parameter: dict[str, Any]) -> tuple[str, str]:
    """What a value must fulfil, as Terraform says it, and in words; nothing where all is allowed."""
    if "AllowedValues" in parameter:
        names = parameter["AllowedValues"]
        return f"contains([{', '.join(map(_quoted, names))}], {value})", " or ".join(names)
    if "MaxValue" in parameter:
        low, high = parameter["MinValue"], parameter["MaxValue"]
        return f"{value} >= {low} && {value} <= {high}", f"{low} to {high}"
    if "AllowedPattern" in parameter:
        # Terraform's patterns look at nothing before or behind.
        pattern = re.sub(r"\(\?!(?:[^()]|\([^()]*\))*\)", "", parameter["AllowedPattern"])
        words = parameter.get("ConstraintDescription", parameter["AllowedPattern"])
        return f"can(regex({_quoted(f'^(?:{pattern})$')}, {value}))", words
    return "", ""


def _text(parameter: dict[str, Any]) -> str:
    return str(parameter["Description"]).strip().rstrip(".")


def _quoted(text: str) -> str:
    """A text of HCL."""
    return json.dumps(str(text), ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def _outputs() -> list[tuple[str, str]]:
    """The outputs of the module, with what they are."""
    text = (MODULE / "outputs.tf").read_text(encoding="utf-8")
    return re.findall(r'output "(\w+)" \{\n +description = "([^"]+)"', text)


if __name__ == "__main__":
    main()
