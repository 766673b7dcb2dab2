"""Where processes live and how they end: nothing is left behind, whatever happens."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import poise
from poise.algorithms.program.scratch_folders import Scratch, sweep, sweep_after_workers
from poise.algorithms.program.server_pool import Pool, servers
from poise.errors import ArgumentError, TrialError
from shared.processes import gone, python, running

TRAIN = ([[0.0], [1.0]], [1.0, 2.0])

PID = {
    "one-shot": "open(predictions, 'w').write(str(os.getpid()))",
    "serving": "answer(os.getpid())",
}


def ask(program, xi=0):
    return int(program.fit(*TRAIN, xi=xi)([[5.0]])[0])


def test_one_shot_starts_a_process_each_time_and_serving_one_in_all(write_program):
    one_shot, serving = (
        write_program(PID["one-shot"], "one-shot"),
        write_program(PID["serving"], "serving"),
    )
    assert len({ask(one_shot) for _ in range(3)}) == 3
    assert len({ask(serving) for _ in range(3)}) == 1


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_seed_is_31_bits_of_xi(write_program, mode):
    code = {"one-shot": "open(predictions, 'w').write(seed)", "serving": "answer(request['seed'])"}
    program = write_program(code[mode], mode)
    assert ask(program, xi=12) == 12
    seeds = [ask(program, xi=(k << 60) + 5) for k in range(4)]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_pickled_program_carries_no_process_but_finds_the_one_that_runs(write_program):
    program = write_program(PID["serving"], "serving")
    server = ask(program)
    copy = pickle.loads(pickle.dumps(program))
    assert ask(copy) == server
    assert repr(copy) == repr(program)
    del copy
    gc.collect()
    assert ask(program) == server


def test_a_server_ends_with_the_program_object(write_program):
    program = write_program(PID["serving"], "serving")
    server = ask(program)
    del program
    gc.collect()
    assert not running(server)


def test_close_ends_the_server_and_the_next_fit_starts_another(write_program):
    program = write_program(PID["serving"], "serving")
    server = ask(program)
    program.close()
    assert not running(server)
    assert ask(program) != server


def test_an_idle_server_is_ended(write_program, temporary):
    pool = Pool(idle_seconds=0.05)
    server = pool.take(write_program(PID["serving"], "serving").command)
    pool.give(server)
    assert gone(server.process.popen.pid)
    while any(temporary.iterdir()):  # the sweeper is still at it
        time.sleep(0.01)
    assert len(pool) == 0


def test_a_server_that_ignores_the_end_of_its_input_is_killed(write_program, tmp_path):
    program = write_program(PID["serving"], "serving")
    path = tmp_path / "serving.py"
    path.write_text(path.read_text() + "\nwhile True: time.sleep(600)\n")
    server = ask(program)
    program.close()
    assert not running(server)


# Each server waits until the other one runs too: shared between threads, it would wait in vain.
RENDEZVOUS = """
while len(set(open(os.environ["PIDS"]).read().split())) < 2: time.sleep(0.01)
answer(os.getpid())
"""


def test_threads_do_not_share_a_server(write_program):
    program = write_program(RENDEZVOUS, "serving", timeout=60)
    found = []
    threads = [threading.Thread(target=lambda: found.append(ask(program))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2
    assert len(servers) == 2


LOKY = """
import os, sys
from joblib import Parallel, delayed
from poise.algorithms.program import Program

def task(program, k):
    return os.getpid(), int(program.fit([[0.0], [1.0]], [1.0, 2.0], xi=k)([[5.0]])[0])

if __name__ == "__main__":
    program = Program({command!r}, mode="serving", env={env!r})
    for pair in Parallel(n_jobs=2, batch_size=1)(delayed(task)(program, k) for k in range(24)):
        print(*pair)
"""


def test_workers_have_a_server_each_which_ends_with_them(write_program, run_script):
    program = write_program(PID["serving"], "serving")
    output = run_script(
        LOKY.format(command=list(program.command.words), env=dict(program.command.env))
    )
    pairs = {tuple(map(int, line.split())) for line in output.splitlines()}
    workers = {worker for worker, _ in pairs}
    assert len(pairs) == len(workers) == len({server for _, server in pairs})
    assert all(gone(server) for _, server in pairs)


FORK = """
import os, sys, warnings
from poise.algorithms.program import Program

def ask(program):
    return int(program.fit([[0.0], [1.0]], [1.0, 2.0], xi=0)([[5.0]])[0])

program = Program({command!r}, mode="serving", env={env!r})
before = ask(program)
warnings.simplefilter("ignore", DeprecationWarning)  # fork beside a thread, as joblib may do
child = os.fork()
if child == 0:
    print(ask(program) != before, flush=True)
    sys.exit()
os.waitpid(child, 0)
print(ask(program) == before)
"""


def test_a_forked_worker_neither_uses_nor_ends_its_parents_server(write_program, run_script):
    program = write_program(PID["serving"], "serving")
    output = run_script(
        FORK.format(command=list(program.command.words), env=dict(program.command.env))
    )
    assert output.split() == ["True", "True"]


# Starts a process of its own that would outlive it by ten minutes.
CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "600"])
open(os.environ["PIDS"], "a").write(f"{child.pid}\\n")
"""


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_a_timeout_kills_the_whole_family(write_program, tmp_path, mode):
    # Long enough for Python to start on a machine that is busy with other tests.
    program = write_program(CHILD + "time.sleep(600)", mode, timeout=6.0)
    with pytest.raises(TrialError, match="within 6 s"):
        ask(program)
    family = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(family) == 2
    assert all(gone(pid) for pid in family)


def test_what_a_program_leaves_running_is_ended(write_program, tmp_path):
    parent = ask(write_program(CHILD + PID["one-shot"], "one-shot"))
    family = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert family[0] == parent
    assert all(gone(pid) for pid in family)


class Interrupted(BaseException):
    pass


def interrupt(number, frame):
    raise Interrupted


def interrupt_once_written(path):
    while not path.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGALRM)


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_an_interrupt_leaves_nothing_behind(write_program, tmp_path, mode):
    asleep = tmp_path / "asleep"
    program = write_program(f"open({str(asleep)!r}, 'w').close(); time.sleep(600)", mode)
    previous = signal.signal(signal.SIGALRM, interrupt)
    other = threading.Thread(target=interrupt_once_written, args=(asleep,), daemon=True)
    other.start()
    try:
        with pytest.raises(Interrupted):
            ask(program)
    finally:
        signal.signal(signal.SIGALRM, previous)
    (pid,) = map(int, (tmp_path / "pids").read_text().split())
    assert not running(pid)


def test_temporary_files_of_the_program_are_removed_with_ours(write_program, temporary):
    code = "import tempfile\nopen(tempfile.mkdtemp() + '/big', 'w').write('left')\n"
    ask(write_program(code + PID["one-shot"], "one-shot"))
    assert list(temporary.iterdir()) == []
    program = write_program(code + PID["serving"], "serving")
    ask(program)
    (folder,) = temporary.iterdir()
    assert [path.name for path in folder.glob("*/*")] == ["big"]


def test_environment_and_folder(tmp_path, write_program, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "LEVEL"]
    code = f"found = [os.environ[name] for name in {names}] + [len(os.getcwd())]\n"
    code += "open(predictions, 'w').write('\\n'.join(map(str, found)))"
    program = write_program(code, "one-shot", env={"LEVEL": "7"}, cwd=tmp_path)
    found = program.fit(*TRAIN, xi=0)([[0.0]] * 4)
    assert found.tolist() == [1, 3, 7, len(os.path.realpath(tmp_path))]


def test_no_rows_to_predict_need_no_program(write_program, tmp_path):
    program = write_program("sys.exit(1)", "one-shot")
    assert program.fit(np.zeros((3, 2)), np.zeros(3), xi=0)(np.zeros((0, 2))).shape == (0,)
    assert not (tmp_path / "pids").exists()


KILLED = """
import os, signal, sys
import poise

program = poise.Program({command!r}, mode={mode!r}, env={env!r})
X = [[float(i)] for i in range(40)]
poise.measure(program, X, list(range(40)), n=3, n_jobs={n_jobs})
"""


@pytest.mark.parametrize(("mode", "n_jobs"), [("one-shot", 1), ("serving", 1), ("one-shot", 2)])
def test_what_a_killed_process_leaves_is_swept_up(write_program, tmp_path, temporary, mode, n_jobs):
    """Nobody can tidy up after kill -9, but the next one who comes along."""
    program = write_program("sys.stdin.close(); time.sleep(600)", mode)
    script, pids = tmp_path / "script.py", tmp_path / "pids"
    command, env = list(program.command.words), dict(program.command.env)
    script.write_text(KILLED.format(command=command, mode=mode, env=env, n_jobs=n_jobs))
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(temporary)},
    ) as owner:
        while not pids.exists() or len(pids.read_text().split()) < n_jobs:
            time.sleep(0.01)
        sweep()
        assert len(list(temporary.glob("poise-program-*"))) == n_jobs, "their owner is alive"
        owner.kill()
    family = [int(pid) for pid in pids.read_text().split()]
    if n_jobs == 2:  # workers notice that they work for nobody
        assert all(gone(pid) for pid in family)
    for folder in temporary.iterdir():
        while folder.exists():
            sweep()
    assert all(gone(pid) for pid in family)


KILLED_AT_THE_START = """
import os, signal
import poise
from poise.algorithms.program.scratch_folders import Scratch

def killed(self, program):
    with open({number!r}, "w") as file:
        file.write(str(program))
    os.kill(os.getpid(), signal.SIGKILL)

Scratch.occupied_by = killed
program = poise.Program({command!r}, mode="one-shot", env={env!r})
program.fit([[0.0], [1.0]], [1.0, 2.0], xi=0)([[5.0]])
"""


def test_a_program_whose_owner_was_killed_before_it_knew_its_number_ends(
    write_program, tmp_path, temporary
):
    program = write_program("time.sleep(600)", "one-shot")
    command, env = list(program.command.words), dict(program.command.env)
    number = tmp_path / "number"
    script = KILLED_AT_THE_START.format(command=command, env=env, number=str(number))
    with_folder = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(temporary),
    }
    owner = python("-c", script, env=with_folder)
    assert owner.returncode == -signal.SIGKILL
    sweep_after_workers()  # it was a child of this process, as a worker is
    assert list(temporary.iterdir()) == []
    assert gone(int(number.read_text()))


def test_a_program_that_was_never_started_leaves_its_folder_to_the_next_sweep(temporary):
    scratch = Scratch()
    scratch.about_to_start()
    scratch.ownership.close()  # as if its owner had been killed a moment ago
    sweep()
    assert scratch.path.exists()
    os.utime(scratch.path / "program.pid", (0, 0))
    sweep()
    assert not scratch.path.exists()


def test_a_number_that_stands_for_another_process_by_now_is_left_alone(temporary):
    scratch = Scratch()
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as stranger:
        scratch.occupied_by(stranger.pid)
        scratch.ownership.close()  # as if its owner had ended
        sweep()
        assert not scratch.path.exists()
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_time_limit_of_the_run_is_kept_by_the_program(write_program, tmp_path, mode, n_jobs):
    """Its worker need not end for it, and a late answer has its own policy."""
    program = write_program("time.sleep(600)", mode)
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0)
    asked = {"n": 3, "timeout": 0.5, "n_jobs": n_jobs, "on_error": "unstable"}
    with pytest.raises(TrialError, match=r"within 0\.5 s .*on_timeout='unstable'") as caught:
        poise.measure(program, X, y, **asked)
    assert caught.value.kind == "timeout"
    small = poise.measure(program, X[:8], y[:8], **asked, on_timeout="unstable")
    assert np.isinf(small.changes).all()
    assert program.timeout is None
    own = program.with_timeout(5.0)
    assert (own.timeout, own.with_timeout(9.0).timeout, own.with_timeout(2.0).timeout) == (
        5.0,
        5.0,
        2.0,
    )
    with pytest.raises(ArgumentError, match="timeout must be a number of seconds > 0"):
        poise.measure(program, X, y, n=3, timeout=-1)


def test_where_standard_error_is_silent_standard_output_is_shown(write_program):
    program = write_program("print('no such file'); sys.exit(2)", "one-shot")
    with pytest.raises(TrialError, match="last lines of its standard output:\n    no such file"):
        ask(program)
    program = write_program("print('chat'); sys.exit('the reason')", "one-shot")
    with pytest.raises(TrialError, match="last lines of its standard error:\n    the reason"):
        ask(program)
