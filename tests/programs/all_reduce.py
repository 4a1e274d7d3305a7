"""A rank of PyTorch that joins an all-reduce in each step and prints nanoGPT's lines on rank 0.

    all_reduce.py STEPS [FAIL_RANK]

FAIL_RANK raises an error at step 5 of its first start, counted over the attempts of the job and the
restarts of the launcher.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record


@record
def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    is_first = restarts + int(os.environ["TRAINYARD_ATTEMPT"]) == 1
    for step in range(1, int(sys.argv[1]) + 1):
        total = torch.tensor([float(rank)])
        dist.all_reduce(total)
        if rank == 0:
            print(f"iter {step}: loss {total.item() + 1 / step:.4f}, time 50.00ms", flush=True)
        if is_first and step == 5 and sys.argv[2:] == [str(rank)]:
            raise ValueError(f"shard {step} is damaged")
        time.sleep(0.05)
    print("done", rank, os.environ["GLOO_SOCKET_IFNAME"], flush=True)


main()
