"""What is traced of the host."""

from doctord.collect.bpf.host import run_queue


def test_a_task_that_is_preempted_waits_in_the_run_queue_too() -> None:
    """Its state in the tracepoint is neither running (0) nor one of sleeping tasks: see sched_switch's format."""
    program = run_queue(1.0).program()
    assert "args->prev_state == 0 || args->prev_state >= 256" in program
