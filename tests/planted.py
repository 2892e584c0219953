"""Plants a word into every sentence of the product, and says what the product then does.

`python -m tests.planted WORD` prints what each case prints and ends with, as JSON. Without a word nothing is planted.
"""

import ast
import io
import json
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from contextlib import chdir
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[1]
PACKAGES = ("burstwatch", "burstwatch_exporter")
#: Three words in a row.
SENTENCE = re.compile(r"[A-Za-z]{2,}(?= [a-z]+ [a-z]{2,})")


class Planting(ast.NodeTransformer):
    """Adds a word behind the first of three in a row, in every text but those that only explain the code."""

    def __init__(self, word: str) -> None:
        self._word = word

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leave out what stands alone: it is a docstring."""
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave out the values of a ``Literal``: they are names and no sentences."""
        return node if ast.unparse(node.value) == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Add the word to a text."""
        if not isinstance(node.value, str) or node.value in NAMES:
            return node
        planted = SENTENCE.sub(rf"\g<0> {self._word}", node.value, count=1)
        return ast.copy_location(ast.Constant(planted), node)


class PlantingLoader(SourceFileLoader):
    """Loads a module with the word in its sentences."""

    word = ""

    def source_to_code(self, data: object, path: object, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        """Plant, then compile."""
        tree = Planting(self.word).visit(ast.parse(data))  # type: ignore[call-overload]
        return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)

    def get_code(self, fullname: str) -> CodeType:
        """The code, from the source alone: nothing planted is kept."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class PlantingFinder:
    """Finds the modules of the product for the loader that plants."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The module as Python finds it, with another loader."""
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            loader: Loader = PlantingLoader(name, spec.loader.path)
            spec.loader = loader
        return spec


def literals() -> frozenset[str]:
    """The values that a type lists: machines read them, so they are names although they have blanks."""
    values = set()
    for package in (ROOT / "burstwatch", ROOT / "exporter" / "burstwatch_exporter"):
        for path in package.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                    values |= {
                        part.value for part in ast.walk(node.slice)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    }  # fmt: skip
    return frozenset(values)


NAMES = literals()


def cases() -> dict[str, Callable[[], object]]:
    """What is tried, by its name. Imported late, so that the word is planted in what they import."""
    from tests.forms import FORMS  # noqa: PLC0415
    from tests.goldens import CASES, messages  # noqa: PLC0415

    tables: Mapping[str, Mapping[str, str]] = tomllib.loads(
        (ROOT / "tests" / "bad_inputs.toml").read_text(encoding="utf-8")
    )
    tried: dict[str, Callable[[], object]] = {}
    for name, play in CASES.items():
        tried[f"messages of {name}"] = lambda play=play: facts_of(messages(play))  # type: ignore[misc]
    for text in tables["commands"]:
        tried[text] = lambda text=text: run_command(*shlex.split(text))  # type: ignore[misc]
    for text in tables["recordings"]:
        tried[repr(text)] = lambda text=text: explain(text)  # type: ignore[misc]
    points = [(1_790_000_100 + 300 * n, 90 - n / 4) for n in range(30)]
    for name, write in FORMS.items():
        tried[f"form {name}"] = lambda write=write: explain(write(points))  # type: ignore[misc]
    for command in COMMANDS:
        tried[command] = lambda command=command: run_command(*shlex.split(command))  # type: ignore[misc]
    return tried


#: Commands that need no account.
COMMANDS = (
    "explain --example --json --every-period", "explain --example", "catalog --settings", "catalog",
    "whatif --type gp2 --size-gib 100 --iops 3000", "whatif --type gp2 --size-gib 2000 --iops 3000", "whatif --type gp3 --size-gib 9 --iops 1",
    "whatif --type st1 --size-gib 500 --mib-s 200", "whatif --kind rds_storage --type gp2 --size-gib 300 --iops 9000",
    "whatif --kind ec2_instance_cpu --type t3.medium --cpu-percent 60", "whatif --kind ec2_instance_cpu --type m5.large --cpu-percent 6",
    "whatif --kind efs_file_system --size-gib 256 --mib-s 100", "policy scan",
    "advise {recording} --type gp2 --size-gib 100 --region us-east-1 --json", "advise {recording} --type gp2 --size-gib 100 --region us-east-1",
    "advise {recording} --type st1 --size-gib 500 --region us-east-1",
)  # fmt: skip
RECORDING = "t_s,read_ops,write_ops,balance_percent\n" + "".join(
    f"{1_790_000_100 + 300 * n},{900_000 if n % 90 > 40 else 9_000},1000,{max(0, 90 - n % 90)}\n"
    for n in range(2_400)
)


def facts_of(text: str) -> list[str]:
    """What messages say to programs, and to whom. A longer sentence may cut off another that has no room."""
    return re.findall(r'^==== (?:\w+ to \w+)|/[^/ ]+/(?:critical|warning)$|"(?:eventType|threadId|\w+_s|state)": .*', text, re.MULTILINE)  # fmt: skip


def run_command(*args: str) -> tuple[int, str, str]:
    """The exit code and what a command prints."""
    from burstwatch.cli.main import run  # noqa: PLC0415

    Path("recording.csv").write_text(RECORDING, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    words = [arg.replace("{recording}", "recording.csv") for arg in args]
    code = run(words, stdout=out, stderr=err, env={}, clock=lambda: 1_790_800_000.0)
    return code, out.getvalue(), err.getvalue()


def explain(text: str) -> tuple[int, str, str]:
    """What becomes of a recording, under a name that is a sentence itself."""
    name = "there is no time.json"
    Path(name).write_bytes(text.encode())
    described = (
        () if text.startswith("# burstwatch kind=") else ("--type", "gp2", "--size-gib", "100")
    )
    return run_command("explain", name, *described)  # fmt: skip


def main() -> None:
    """Plant, try everything, and print it."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word:
        PlantingLoader.word = word
        sys.meta_path.insert(0, PlantingFinder)
    outcomes: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, case in cases().items():
            outcomes[name] = case()
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
