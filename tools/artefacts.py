"""Lists the files of a release with their sizes, and what each was tried with outside of the repository. Run by `make test-release`."""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from burstwatch.formatting import table
from tools.dist import DIST


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """Files of one sort, by ``pattern``, where they are published, and the test of tests/release that uses them where they are alone."""

    pattern: str
    goes_to: str
    test: str


ARTEFACTS = (
    Artefact(pattern="burstwatch-*-py3-none-any.whl", goes_to="PyPI", test="test_wheel_and_source_answer_and_replay_in_an_empty_environment"),
    Artefact(pattern="burstwatch-[0-9]*.tar.gz", goes_to="PyPI", test="test_wheel_and_source_answer_and_replay_in_an_empty_environment"),
    Artefact(pattern="burstwatch_cdk-*.whl", goes_to="PyPI", test="test_a_strangers_python_app_synthesises_with_the_construct"),
    Artefact(pattern="burstwatch-[0-9]*.tgz", goes_to="npm", test="test_a_strangers_app_synthesises_with_the_construct_and_without_python"),
    Artefact(pattern="burstwatch-exporter-[0-9]*.tgz", goes_to="registry", test="test_the_chart_and_the_image_have_all_that_they_name"),
    Artefact(pattern="burstwatch-fleet-*.tgz", goes_to="registry", test="test_the_chart_and_the_image_have_all_that_they_name"),
    Artefact(pattern="burstwatch-exporter-image-*.tar.gz", goes_to="GitHub", test="test_the_chart_and_the_image_have_all_that_they_name"),
    Artefact(pattern="*.deb", goes_to="GitHub", test="test_a_package_for_hosts_installs_without_a_network_and_again_as_an_upgrade_does"),
    Artefact(pattern="*.rpm", goes_to="GitHub", test="test_a_package_for_hosts_installs_without_a_network_and_again_as_an_upgrade_does"),
    Artefact(pattern="burstwatch-lambda.zip", goes_to="GitHub", test="test_the_package_of_the_functions_starts_where_it_is_alone"),
    Artefact(pattern="burstwatch-template.json", goes_to="GitHub", test="test_the_plain_template_is_small_enough_to_be_passed_whole_and_names_its_package"),
    Artefact(pattern="burstwatch-monitoring-*.tar.gz", goes_to="GitHub", test="test_the_archive_has_dashboards_rules_and_a_mixin_that_are_whole"),
    Artefact(pattern="*.cdx.json", goes_to="GitHub", test="test_the_bills_of_materials_have_what_is_pinned"),
    Artefact(pattern="CHANGES-*.md", goes_to="GitHub", test="test_the_changes_are_those_of_the_version"),
    Artefact(pattern="SHA256SUMS", goes_to="GitHub", test="test_the_checksums_are_those_of_the_files"),
)  # fmt: skip


def artefact_of(path: Path) -> Artefact:
    """The sort of a file.

    Raises:
        ValueError: if it has none.
    """
    for artefact in ARTEFACTS:
        if fnmatch(path.name, artefact.pattern):
            return artefact
    msg = f"{path.name} is in no row of tools/artefacts.py, so nobody knows where it goes and who has tried it"
    raise ValueError(msg)


def main() -> None:
    """Print the table."""
    rows = [
        (path.name, f"{path.stat().st_size / 1024:,.0f}", artefact.goes_to, artefact.test)
        for path in sorted(DIST.iterdir())
        for artefact in (artefact_of(path),)
    ]
    print(table(("file", "KiB", "goes to", "tried by"), rows))


if __name__ == "__main__":
    main()
