import io
import json
from dataclasses import asdict, fields

import pytest

from burstwatch.cli.main import run
from burstwatch.config import SETTINGS, Config, config_from_env, parse_config


def test_the_table_and_the_dataclass_say_the_same() -> None:
    assert [field.name for field in fields(Config)] == [setting.name for setting in SETTINGS]
    assert asdict(Config()) == {setting.name: setting.default for setting in SETTINGS}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: str(setting.name))
def test_every_default_is_allowed(setting: object) -> None:
    name, default = setting.name, setting.default  # type: ignore[attr-defined]
    assert getattr(parse_config({name: str(default)}), name) == default


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ValueError) as caught:
        parse_config({"lead_s": "-1", "leed_s": "3", "deployment": "a/b"})
    message = str(caught.value)
    assert "lead_s is '-1'; allowed: a number of seconds from 60 to 86400" in message
    assert "unknown setting 'leed_s'" in message
    assert "deployment is 'a/b'" in message


@pytest.mark.parametrize("text", ["nan", "inf", "", "ten"])
def test_what_is_not_a_number_of_seconds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="lead_s"):
        parse_config({"lead_s": text})


def test_the_environment_is_read_and_other_variables_are_not() -> None:
    config = config_from_env({"BURSTWATCH_LEAD_S": "600", "PATH": "/bin"})
    assert config.lead_s == 600


def test_the_margin_keeps_the_lead_after_the_next_sweep_and_the_alarms_way() -> None:
    assert Config().margin_s == 900 + 60 + 180


def test_config_prints_what_holds() -> None:
    out = io.StringIO()
    env = {"BURSTWATCH_LEAD_S": "600"}
    assert (
        run(["catalog", "--settings", "--json"], stdout=out, stderr=out, env=env, clock=lambda: 0.0)
        == 0
    )
    assert json.loads(out.getvalue())["settings"]["lead_s"] == 600


def test_a_wrong_environment_is_one_line_and_exit_code_2() -> None:
    out, err = io.StringIO(), io.StringIO()
    env = {"BURSTWATCH_LEAD": "600"}
    assert run(["catalog", "--settings"], stdout=out, stderr=err, env=env, clock=lambda: 0.0) == 2
    assert err.getvalue().count("\n") == 1
    assert "'lead'" in err.getvalue()


def test_the_settings_of_the_exporter_are_its_own() -> None:
    assert config_from_env({"BURSTWATCH_EXPORTER_SAMPLE_PERIOD": "5"}) == Config()
