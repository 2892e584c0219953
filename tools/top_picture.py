"""Draws `burstwatch top` on the strict fake, for the README: docs/pictures/top.svg. Run by `make screenshots`."""

import asyncio
import re
from pathlib import Path

from tests.aws.test_top import app_of, put_levels
from tests.conftest import fake_cloud

TARGET = Path(__file__).parents[1] / "docs" / "pictures" / "top.svg"
#: Name, GiB, the balance of each minute in percent, and IOPS.
FLEET = (
    ("orders-db", 100, [100 - 3.0 * n for n in range(20)], 3_000),
    ("payments", 200, [100 - 1.0 * n for n in range(40)], 1_500),
    ("wiki", 100, [100.0] * 20, 10),
    ("ci-runner", 500, [60.0] * 20, 1_500),
    ("metrics", 334, [99.0] * 20, 900),
)
SIZE = (100, 12)


def main() -> None:
    """Look once, and keep the screen."""
    with fake_cloud() as cloud:
        cloud.aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
        instance = cloud.aws.add_instance("m5.large")
        for name, size_gib, levels, iops in FLEET:
            volume = cloud.aws.add_volume("gp2", size_gib, instance_id=instance, name=name)
            put_levels(cloud, volume, levels, iops=iops)
        app = app_of(cloud)

        async def draw() -> str:
            async with app.run_test(size=SIZE) as pilot:
                await app.workers.wait_for_complete()
                await pilot.pause()
                return app.export_screenshot(title="burstwatch top")

        picture = asyncio.run(draw())
    # A page that shows it loads nothing from elsewhere.
    TARGET.write_text(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
