"""`python -m tests.chaos --kills 200 --workers 3 --seed 1 --out DIR`: the long run. It ends with its table.

With `--peer scrapy` Scrapy and its JOBDIR are killed on a web of the same kind instead.
"""

import argparse
import sys
from pathlib import Path

from tests.chaos import report, sizes
from tests.chaos.run import run
from tests.chaos.web import make_ground


def main() -> int:
    options = _options()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if options.peer:
        from tests.chaos import scrapy_run

        return scrapy_run.main(options)
    plan = sizes.long_plan(options.kills, seed=options.seed)
    ground = make_ground(options.pages or sizes.pages_for(plan), seed=options.seed)
    print(f"{plan.kills:,} kills, {len(ground.reachable):,} pages, {options.workers} workers, seed {plan.seed}")
    done = run(ground, plan, workers=options.workers)
    print(report.table(report.rows(done)))
    report.save(done, options.out)
    if done.verdict.faults:
        print(report.faults(done))
    return 1 if done.verdict.faults else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=0, help="pages of the web; 0: as many as the kills need")
    parser.add_argument("--out", type=Path, default=Path("bench-out"), help="directory for figures and plot")
    parser.add_argument("--peer", choices=["scrapy"], help="do it to somebody else")
    parser.add_argument("--peer-python", type=Path, default=Path(".venv-bench/bin/python"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
