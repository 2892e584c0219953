"""The queries on the pages for people who have other tools give a series, by the real Prometheus."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[2] / "docs"
LEFT = 'burstwatch_resource_time_to_exhaustion_seconds{{bound="likely",bucket="b",account_id="1",region="eu-west-1",kind="{kind}",resource_id="{id}",name="orders"}}'
VOLUME = "vol-0123456789abcdef0"
#: What the other tool exports, and a label that the answer has of it.
OTHERS = {
    "with-yace.md": (
        "ebs_volume", VOLUME, 0, ("tag_Name", "orders-db"),
        f'aws_ebs_info{{name="arn:aws:ec2:eu-west-1:1:volume/{VOLUME}",tag_Name="orders-db"}}',
    ),
    "with-cloudwatch-exporter.md": (
        "ebs_volume", VOLUME, 1, ("tag_Name", "orders-db"),
        f'aws_resource_info{{job="aws_ebs",instance="",volume_id="{VOLUME}",tag_Name="orders-db"}}',
    ),
    "with-rds-exporter.md": (
        "rds_instance_cpu", "orders.cpu", 1, ("engine", "postgres"),
        'rds_instance_info{aws_account_id="1",aws_region="eu-west-1",dbidentifier="orders",engine="postgres",instance_class="db.t4g.large"}',
    ),
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("page", OTHERS)
def test_the_query_of_a_page_joins_both(
    page: str, tmp_path: Path, program: Callable[[str], str]
) -> None:
    kind, resource_id, value, (label, text), theirs = OTHERS[page]
    (query,) = re.findall(r"```promql\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    ours = LEFT.format(kind=kind, id=resource_id)
    flat = f"max by ({label}) ({' '.join(query.split())})"
    case = {
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": ours, "values": "1020"},
                    {"series": theirs, "values": f"{value}"},
                ],
                "promql_expr_test": [
                    {
                        "expr": flat,
                        "eval_time": "0s",
                        "exp_samples": [{"labels": f'{{{label}="{text}"}}', "value": 1020}],
                    }
                ],
            }
        ],
    }
    path = tmp_path / "case.yml"
    path.write_text(yaml.safe_dump(case))
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_says_what_to_keep_what_to_add_and_what_it_costs() -> None:
    pages = sorted(DOCS.glob("with-*.md"))
    assert len(pages) == 5
    for page in pages:
        text = page.read_text()
        for words in ("**Keep**", "**Add**", "**Join**", "**What it costs beside:**"):
            assert words in text, (page.name, words)
