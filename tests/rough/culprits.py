"""The jobs that do harm, and how they end is their own affair."""
from bystanders import is_over
from rough_site import HERE

PROGRAMS = HERE / "programs"


class Culprits:
    """Submits them and ends them."""

    def __init__(self, site):
        self.site = site
        self.made = 0
        self.numbers = []

    def submit(self, program, *arguments, **more):
        """Number of the job, or None."""
        self.made += 1
        return self.submit_spec({
            "name": f"{program}-{self.made}", "resources": {"device": "cpu"},
            "command": ["/usr/bin/python3", str(PROGRAMS / f"{program}.py"),
                        *map(str, arguments)],
            "restart": {"max_restarts": 1, "backoff": 0}, "stop_grace": "1s", **more})

    def submit_spec(self, spec):
        number = self.site.try_submit(spec)
        if number is not None:
            self.numbers.append(number)
        return number

    def end(self):
        """Kills those that have not ended."""
        for number in self.numbers:
            job = self.site.job(number)
            if job is None or not is_over(job):
                self.site.cli("kill", number, "-y")
