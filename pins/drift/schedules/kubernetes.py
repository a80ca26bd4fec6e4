"""A CronJob of Kubernetes, with a volume for what is remembered."""

import shlex

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import quoted, says_what_it_installs, says_what_it_is
from pins.errors import UsageError


def cron_job(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The CronJob and its volume claim, in one file.

    Raises:
        UsageError: the repository cannot be cloned from anywhere that is known.
    """
    if not schedule.repository:
        raise UsageError(
            "a CronJob clones the repository, and this one has no remote `origin`: run it in a clone, or say "
            "--repository URL"
        )
    arguments = ("drift", *schedule.options, "--state", "file:/state/state.json", "--", *schedule.paths)
    name, image = quoted(schedule.name), quoted(schedule.image)
    notes = (
        says_what_it_installs(schedule),
        "Then: kubectl apply -f FILE. The image must hold Python, git and a shell; --image NAME@sha256:... pins it.",
        "A private repository wants a secret for git, such as a mounted .git-credentials.",
    )
    install = (
        f"python -m pip install --disable-pip-version-check --target /pins/site -- {shlex.quote(schedule.requirement)}"
    )
    clone = f"git clone -- {shlex.quote(schedule.repository)} /pins/tree"
    text = f"""\
{says_what_it_is(schedule, *notes)}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 1Gi
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {name}
spec:
  schedule: {quoted(schedule.cron)}
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 3600
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 0
      activeDeadlineSeconds: 1800
      template:
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
            runAsGroup: 65532
            fsGroup: 65532
            seccompProfile:
              type: RuntimeDefault
          initContainers:
            - name: prepare
              image: {image}
              command: [sh, -euc, {_word(clone + " && " + install)}]
              env: &environment
                - {{name: HOME, value: /pins}}
                - {{name: XDG_CACHE_HOME, value: /state/cache}}
                - {{name: PYTHONPATH, value: /pins/site}}
              securityContext: &restricted
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities:
                  drop: [ALL]
              resources: &resources
                requests: {{cpu: 100m, memory: 256Mi}}
                limits: {{memory: 1Gi}}
              volumeMounts: &mounts
                - {{name: work, mountPath: /pins}}
                - {{name: state, mountPath: /state}}
                - {{name: temporary, mountPath: /tmp}}
          containers:
            - name: drift
              image: {image}
              # 1: something new was found; the job then counts as failed, which is what alerts are made of.
              command: [python, -m, pins, {", ".join(_word(word) for word in arguments)}]
              workingDir: /pins/tree
              env: *environment
              securityContext: *restricted
              resources: *resources
              volumeMounts: *mounts
          volumes:
            - name: work
              emptyDir: {{}}
            - name: temporary
              emptyDir: {{}}
            - name: state
              persistentVolumeClaim:
                claimName: {name}
"""
    return (ScheduleFile(f"{schedule.name}.yaml", text),)


def _word(text: str) -> str:
    """A word of a container's command, in which Kubernetes replaces `$(NAME)`, and takes `$$` for one `$`."""
    return quoted(text.replace("$", "$$"))
