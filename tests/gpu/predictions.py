"""The planner's step time and memory for a run of tests/gpu/bench.py."""
import json
import statistics
import subprocess


def device_of(gpu_name):
    """"H200" of nvidia-smi's "NVIDIA H200"."""
    words = gpu_name.split()
    return words[1] if words[:1] == ["NVIDIA"] and len(words) > 1 else gpu_name


def predicted(program, spec, ranks, device):
    """Milliseconds of a step and GB of tensors per GPU that `program`, the CLI, predicts.

    `spec` is the run's spec.json. Returns {"problem": ...} if the planner has no answer.
    """
    command = [program, "plan", spec, "--device", device, "--nodes", "1", "--per-node", str(ranks),
               "--layout", "written", "-o", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return {"problem": f"cannot run {program}: {error.strerror}"}
    if done.returncode != 0:
        return {"problem": (done.stderr or done.stdout).strip()[-400:]}
    plan = json.loads(done.stdout)["written_layout"]
    memory = plan["memory"]
    tensors = memory["total_bytes"] - memory["overhead_bytes"]  # Without CUDA's libraries.
    return {"ms": 1e3 * plan["step"]["step_seconds"], "memory_gb": tensors / 1e9}


def error_of(entry, figure):
    """(predicted - measured) / measured of a row of the table; None without both."""
    ours, plan = entry.get("ours") or {}, entry.get("predicted") or {}
    if figure not in ours or figure not in plan:
        return None
    return plan[figure] / ours[figure] - 1


def mean_error(entries, figure):
    """Mean of the absolute errors; None without any."""
    errors = [error_of(entry, figure) for entry in entries]
    measured = [abs(error) for error in errors if error is not None]
    return statistics.mean(measured) if measured else None
