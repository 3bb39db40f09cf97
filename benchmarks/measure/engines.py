"""The default model with each engine: whether the bytes are the same, the seconds, and the memory of the processes.

Local threads; two nodes of Ray on this machine, and again with one of them killed in the middle of a round; a join with two parts, of which
one is killed. Each run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import kgalign
from benchmarks.measure.generated import generate
from benchmarks.measure.scale import label
from benchmarks.results import CANONICAL, GENERATED, add
from kgalign.progress import Progress
from kgalign.runs import peak_mb

SAME = ("alignment.tsv", "unmatched.tsv", "candidates.parquet", "evidence.parquet")
ENGINES = ("local", "ray", "ray, a node killed", "parts", "parts, one killed")
PARTS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", help="a dataset folder, or the number of entities of generated graphs")
    parser.add_argument("engines", nargs="*", default=ENGINES, help="some of: " + "; ".join(ENGINES))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(measure(given.place, given.run[0], Path(given.run[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        content = None
        for engine in dict.fromkeys(("local", *given.engines)):
            output = Path(folder) / engine.replace(",", "").replace(" ", "-")
            command = [sys.executable, "-m", "benchmarks.measure.engines", given.place, "--run", engine, str(output)]
            environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
            row = json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])
            found = [(output / name).read_bytes() for name in SAME]
            content = content or found
            metrics = {"same_bytes": found == content, **row["metrics"]}
            about = {
                "seconds": row["seconds"],
                "options": row["options"],
                "split": GENERATED if given.place.isdecimal() else CANONICAL,
            }
            place = f"generated {label(int(given.place))}" if given.place.isdecimal() else Path(given.place).name
            add("engines", engine, place, metrics, protocol=row["protocol"], **about)


def measure(place: str, engine: str, output: Path) -> dict[str, Any]:
    """The figures of one run, which is written to a folder."""
    task, gold = generate(int(place)) if place.isdecimal() else kgalign.read(place)
    killed: list[str] = []
    if engine == "local":
        return align(task, gold, output, "local", None)
    if engine.startswith("ray"):
        import ray
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        node = cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")

        def kill_node(progress: Progress) -> None:
            if "killed" in engine and not killed and in_the_middle(progress):
                killed.append(str(progress))
                cluster.remove_node(node, allow_graceful=False)

        figures = align(task, gold, output, "ray", kill_node)
        ray.shutdown()
        cluster.shutdown()
        return with_metrics(figures, killed=killed)
    from kgalign.search.folder_tasks import joined

    place_of_parts = output.with_name("shared-by-parts")
    code = "import sys; from pathlib import Path; from kgalign.search.folder_tasks import work_on_part; "
    code += f"print(work_on_part(Path({str(place_of_parts)!r}), int(sys.argv[1]), {PARTS}, lambda text: None))"
    parts = [
        subprocess.Popen([sys.executable, "-c", code, str(number + 1)], stdout=subprocess.PIPE, text=True)
        for number in range(PARTS)
    ]

    def kill_part(progress: Progress) -> None:
        if "killed" in engine and not killed and in_the_middle(progress):
            killed.append(str(progress))
            parts[0].send_signal(signal.SIGKILL)

    with joined(place_of_parts) as chosen:
        figures = align(task, gold, output, chosen, kill_part)
    blocks = [int(each.communicate()[0].strip() or 0) for each in parts]  # a part that was killed tells none
    return with_metrics(figures, killed=killed, blocks_of_parts=blocks)


def align(task: Any, gold: Any, output: Path, engine: Any, progress: Any) -> dict[str, Any]:
    began = time.perf_counter()
    with Memory() as memory:
        run = kgalign.align(task, gold, engine=engine, progress=progress or False)
    seconds = time.perf_counter() - began
    run.write(output)
    metrics = {"peak_mb": peak_mb(), "largest_other_mb": memory.most, "rounds": len(run.reasoning.rounds)}
    return {"seconds": seconds, "metrics": metrics, "options": dict(run.options), "protocol": task.protocol}


def with_metrics(figures: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**figures, "metrics": {**figures["metrics"], **more}}


def in_the_middle(progress: Progress) -> bool:
    return progress.round >= 1 and progress.step == "searching by the graph" and progress.part is not None


class Memory:
    """The largest memory that any process started below this one held, without what it shares with others, looked at ten times a second."""

    most = 0

    def __enter__(self) -> Memory:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            for process in Path("/proc").glob("[0-9]*"):
                if process.name == str(os.getpid()):
                    continue
                try:
                    command = (process / "cmdline").read_bytes()
                    if b"ray::" in command or b"work_on_part" in command:
                        resident, shared = map(int, (process / "statm").read_text().split()[1:3])
                        self.most = max(self.most, (resident - shared) * 4096 // 2**20)
                except (OSError, ValueError):  # it has ended
                    continue


if __name__ == "__main__":
    main()
