"""What a peer used, from its first request on, as one line of JSON on standard output."""

import json
import resource
import time


class Measure:
    def __init__(self) -> None:
        self.started = time.monotonic()
        self.cpu = cpu_seconds()

    def report(self) -> None:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(
            json.dumps(
                {
                    "walkMs": 1000 * (time.monotonic() - self.started),
                    "programCpuMs": 1000 * (cpu_seconds() - self.cpu),
                    "processCpuMs": 1000 * cpu_seconds(),
                    # Of the largest process: Linux counts in kilobytes.
                    "peakRssBytes": 1024 * max(own, children),
                }
            )
        )


def cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
