"""Ctrl-C reaches every process of a terminal: workers leave it to the one that started them."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from poise.running.faults.sigint import block_sigint_in_children
from shared.processes import python


def interrupt_this_thread() -> None:
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def interrupt_a_thread_that_listens() -> None:
    def listen() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # as those of OpenBLAS do
        interrupt_this_thread()

    other = threading.Thread(target=listen)
    other.start()
    other.join()


def test_a_process_that_is_being_started_does_not_hear_it() -> None:
    with block_sigint_in_children():
        child = subprocess.Popen(
            [sys.executable, "-c", "print('ready', flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    child.send_signal(signal.SIGINT)  # most likely before it has begun to read its program
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(signal.SIGINT)
    child.communicate(b"\n")
    assert child.returncode == 0


@pytest.mark.parametrize("interrupt", [interrupt_this_thread, interrupt_a_thread_that_listens])
def test_this_process_hears_it_when_all_is_set_up(interrupt) -> None:
    done = []

    def set_up() -> None:
        with block_sigint_in_children():
            interrupt()
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        set_up()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_are_started_deaf(backend, tmp_path, traces) -> None:
    """What they block they have blocked since they were started: nothing there would do it."""
    script, left = tmp_path / "run.py", traces()
    script.write_text(
        textwrap.dedent(f"""
        import signal
        import numpy as np
        import poise

        def fit(A, b, seed):
            deaf = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
            return lambda rows: [float(deaf) * len(b)]

        if __name__ == "__main__":
            X = np.arange(110.0).reshape(-1, 1)
            trials = poise.measure(fit, X, X[:, 0], n=10, backend="{backend}", n_jobs=2)
            assert (trials.changes == 1).all(), trials.changes
    """)
    )
    done = python(str(script), env=left.environment)
    assert done.returncode == 0, done.stderr
