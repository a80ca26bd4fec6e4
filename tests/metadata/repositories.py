"""Small git repositories for tests."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class SmallRepository:
    """A repository that a test fills."""

    path: Path
    _day: int = field(default=0)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nowhere",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_AUTHOR_DATE": f"2026-01-{self._day % 28 + 1:02d}T12:00:00Z",
            "GIT_COMMITTER_DATE": f"2026-01-{self._day % 28 + 1:02d}T12:00:00Z",
        }
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | None], message: str = "change") -> str:
        """Write files (None removes one) and commit; gives the full hash."""
        self._day += 1
        for path, text in files.items():
            target = self.path / path
            if text is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
