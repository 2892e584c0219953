"""The file of accounts and regions: what it takes, and how it refuses the rest."""

from pathlib import Path

import pytest

from burstwatch.aws.watched.units import UnitSpec
from burstwatch.fleet.units_file import read_units

ROLE = "arn:aws:iam::222222222222:role/burstwatch-member"


def units_of(folder: Path, text: str) -> list[UnitSpec]:
    path = folder / "units.yml"
    path.write_text(text)
    return read_units(path)


def test_yaml_and_json_give_the_same_units(tmp_path: Path) -> None:
    yaml = (
        "- region: eu-west-1\n"
        f"- {{account: '222222222222', region: us-east-1, role_arn: '{ROLE}', external_id: watch-me}}\n"
    )
    json = (
        '[{"region": "eu-west-1"}, {"account": "222222222222", "region": "us-east-1",'
        f' "role_arn": "{ROLE}", "external_id": "watch-me"}}]'
    )
    expected = [
        UnitSpec(region="eu-west-1"),
        UnitSpec(account="222222222222", region="us-east-1", role_arn=ROLE, external_id="watch-me"),
    ]
    assert units_of(tmp_path, yaml) == units_of(tmp_path, json) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got nothing"),
        ("[]", "got nothing"),
        ("units: []", "got a table of keys"),
        ("- eu-west-1", "entry 1: it is 'eu-west-1'; allowed: an entry with account"),
        ("- region: mars", "entry 1: unit.region is 'mars'; allowed: a region such as eu-west-1"),
        (
            "- regoin: eu-west-1",
            "entry 1: regoin is unknown; allowed: account, region, role_arn, external_id",
        ),
        (
            "- {account: 222222222222, region: eu-west-1}",
            "entry 1: account is 222222222222; allowed: text: put it in quotes",
        ),
        (
            "- {region: eu-west-1, external_id: 12345}",
            "entry 1: external_id is 12345; allowed: text",
        ),
        (f"- {{role_arn: '{ROLE}'}}", "entry 1: unit.role_arn is given without unit.account"),
        ("- {region: eu-west-1, shard: 1/2}", "entry 1: shard is unknown; allowed: account"),
        (
            "- region: eu-west-1\n- region: us-east-1\n- region: eu-west-1",
            "entry 3 is the account and region of entry 1",
        ),
        ("- region: eu-west-1\n  region: us-east-1", "the key 'region' is there twice"),
    ],
)
def test_what_is_not_as_allowed_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match="units") as error:
        units_of(tmp_path, text)
    assert words in str(error.value)


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="units") as error:
        units_of(tmp_path, "- region: mars\n- region: eu-west-1\n- account: '12'\n")
    assert "entry 1" in str(error.value)
    assert "entry 3" in str(error.value)
