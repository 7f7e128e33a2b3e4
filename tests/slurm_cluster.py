"""A real Slurm of one node on this machine: controller, node daemon, munge, and one invented GPU.

Nothing of the system's own Slurm is read or written: configuration, keys, sockets and state lie in
a folder of the test, and the clients are found through wrappers there, since a job step drops the
variable that names the configuration.
"""

import getpass
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "srun")
CLIENTS = ("sbatch", "squeue", "scontrol", "scancel", "srun", "sinfo")
SBIN = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0,defer_batch
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=200000 Gres=gpu:1
PartitionName=cpu Nodes={host} Default=YES
PartitionName=gpu Nodes={host}
"""


def missing_programs() -> list[str]:
    """Programs of Slurm that this machine does not have."""
    return [name for name in PROGRAMS if shutil.which(name, path=SBIN) is None]


def _free_ports(n: int) -> list[int]:
    sockets = [socket.socket() for _ in range(n)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Cluster:
    """Started on entry, ended on exit; `environment` leads programs to it.

    `cpus` is what the node claims to have. More than there are let more jobs run side by side.
    """

    def __init__(self, folder: Path, cpus: int) -> None:
        self.folder, self.cpus = folder, cpus
        self.daemons: list[subprocess.Popen] = []
        self.bin = folder / "bin"
        self.environment = {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}

    def __enter__(self) -> "Cluster":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # The node daemon goes first, and takes what still runs with it.
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self) -> None:
        for part in ("bin", "state", "spool"):
            (self.folder / part).mkdir()
        self.folder.chmod(0o755)  # munged refuses a socket that others cannot reach
        controller, node = _free_ports(2)
        conf = self.folder / "slurm.conf"
        conf.write_text(
            CONF.format(
                host=socket.gethostname(), user=getpass.getuser(), folder=self.folder,
                controller=controller, node=node, cpus=self.cpus,
            )
        )  # fmt: skip
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        for name in CLIENTS:
            wrapper = self.bin / name
            program = shutil.which(name, path=SBIN)
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {program} "$@"\n')
            wrapper.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._daemon(
            "munged", "--foreground", "--force", f"--key-file={key}",
            f"--socket={self.folder}/munge.sock", f"--pid-file={self.folder}/munged.pid",
            f"--seed-file={self.folder}/munged.seed",
        )  # fmt: skip
        self._until((self.folder / "munge.sock").exists, "munged has no socket")
        self._daemon("slurmctld", "-D", "-c", "-f", conf)
        self._daemon("slurmd", "-D", "-f", conf)
        self._until(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), "the node is not idle")

    def _daemon(self, name: str, *arguments: object) -> None:
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons.append(
                subprocess.Popen(
                    [shutil.which(name, path=SBIN), *map(str, arguments)],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )
            )  # fmt: skip

    def _until(self, condition, what: str) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            ended = [d.args[0] for d in self.daemons if d.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = [f"{p.name}: {p.read_text()[-600:]}" for p in self.folder.glob("*.log")]
                raise RuntimeError("\n".join([what, f"ended: {ended}", *logs]))
            time.sleep(0.2)

    def ask(self, name: str, *arguments: str) -> str:
        """What a client prints."""
        done = subprocess.run(
            [self.bin / name, *arguments], capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout

    def jobs(self) -> list[dict[str, str]]:
        """All jobs since the start, in order, as the controller describes them.

        ``rule`` is read from the comment or the name that the submitter gave.
        """
        found = []
        for line in self.ask("scontrol", "--oneliner", "show", "job").splitlines():
            job = dict(re.findall(r"(\S+?)=(\S*)", line))
            if "JobId" in job:
                named = re.search(r"rule_(\w+?)(_wildcards_|$)", job.get("Comment", ""))
                job["rule"] = named[1] if named else job["JobName"].removeprefix("rarefuse-")
                found.append(job)
        return sorted(found, key=lambda job: int(job["JobId"]))
