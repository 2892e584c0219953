"""The Terraform module is that of the template, and takes what the template takes."""

import json
import re
from typing import Any

import pytest

from tests.clouds.examples import EXAMPLES, MODULE, module_parameters, read_hcl
from tools.dist import plain_template_now
from tools.terraform import OWN, files, snake

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parameters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    template = json.loads(plain_template_now(tmp_path_factory.mktemp("cdk")))
    found: dict[str, dict[str, Any]] = template["Parameters"]
    return found


def test_what_is_committed_is_what_the_template_says(parameters: dict[str, dict[str, Any]]) -> None:
    assert files(parameters) == {name: (MODULE / name).read_text() for name in ("settings.tf", "README.md")}  # fmt: skip


def test_the_module_gives_the_stack_each_parameter_and_no_other(
    parameters: dict[str, dict[str, Any]],
) -> None:
    given = module_parameters(read_hcl(EXAMPLES / "terraform" / "main.tf"))
    assert {*given, *OWN} == set(parameters)
    assert (given["AlarmEmail"], given["LeadS"]) == ("oncall@example.org", "900")
    for name, value in given.items():
        if name not in {"AlarmEmail", "LeadS"}:
            assert value == str(parameters[name]["Default"]), name


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("page_on", "sure", "often"),
        ("budget_usd_per_month", "7.50", "7,50"),
        ("maintenance", "Sun 02:00-04:00 / Mon-Fri 22:00-01:30", "Sun 2-4"),
        ("runbooks_url", "https://example.org/runbooks", "http://example.org"),
        ("deployment", "prod-1", "prod/1"),
        ("tag_filter", "team=payments", "team"),
    ],
)
def test_a_variable_takes_what_the_template_takes(name: str, good: str, bad: str) -> None:
    """Its pattern is one of Go's; these have nothing that Python reads otherwise."""
    text = (MODULE / "settings.tf").read_text()
    _, _, block = text.partition(f'variable "{name}" {{')
    quoted = re.search(r'regex\(("(?:[^"\\\\]|\\\\.)*"), var', block)
    assert quoted is not None
    pattern = json.loads(quoted[1]).replace("$${", "${")
    assert re.search(pattern, good)
    assert not re.search(pattern, bad)


def test_a_name_of_a_parameter_is_one_of_a_variable() -> None:
    assert snake("BudgetUsdPerMonth") == "budget_usd_per_month"
