"""Links in the place of checkpoints, which lead a deletion into the directory of another job."""
import os
import shutil
import time

from bystanders import training

GONE_SECONDS = 60


def inventory(folder):
    """Size of every file below the folder, by its path."""
    return {str(path.relative_to(folder)): path.lstat().st_size
            for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def traitor(site, random, scene):
    """Number, directory and checkpoints of a job that has ended, or None. Its checkpoints have the
    names of those of any other training job that has ended."""
    spec = training(site, f"traitor-{random.randrange(10**9)}", 1)
    number = scene.culprits.submit_spec(spec)
    job = scene.others.await_end(number, 300) if number is not None else None
    if job is None or job["state"] != "succeeded":
        return None
    paths = [path for path in site.checkpoints_of(number, spec["name"]).glob("step_*")
             if path.is_dir()]
    return (number, site.checkpoints_of(number, spec["name"]), paths) if paths else None


def delete(site, scene, number, folder):
    """Deletes the job with its checkpoints, and waits until a removal has been tried."""
    end = time.monotonic() + GONE_SECONDS
    while time.monotonic() < end:
        if site.cli("delete", number, "--checkpoints", "--yes")[0] == 0:
            scene.culprits.numbers.remove(number)
            break
        time.sleep(0.5)
    # Waits until the job's own checkpoints are removed. Links to other directories remain.
    while time.monotonic() < end and any(
            path.is_dir() and not path.is_symlink() for path in folder.glob("step_*")):
        if folder.is_symlink():
            break
        time.sleep(0.5)
    time.sleep(2)


def links(site, random, scene):
    """A job's checkpoints become links into those of an ended job of others, in one of four ways,
    and are deleted."""
    found = traitor(site, random, scene)
    end = time.monotonic() + GONE_SECONDS
    while scene.others.ended is None and time.monotonic() < end:
        scene.others.look()
        time.sleep(0.5)
    victim = scene.others.ended
    if victim is None or found is None:
        return
    number, folder, paths = found
    target = scene.others.checkpoints(victim)
    before = inventory(target)
    way = random.choice(("directory", "checkpoint", "nested", "file"))
    if way == "directory":
        shutil.rmtree(folder)
        os.symlink(target, folder)
    elif way == "checkpoint":
        for path, other in zip(paths, sorted(target.glob("step_*"))):
            shutil.rmtree(path)
            os.symlink(other, path)
    elif way == "nested":
        os.symlink(target, paths[0] / "nested")
    else:
        for file in target.glob("step_*/*"):
            os.symlink(file, paths[0] / f"alias-{file.parent.name}-{file.name}")
    site.record.count("deletions of links")
    delete(site, scene, number, folder)
    missing = before.keys() - inventory(target).keys() if target.exists() else before.keys()
    # The bystanders themselves remove the checkpoints of older ended jobs.
    if missing and scene.others.ended is victim:
        site.record.count("deletions that followed a link")
        site.blame(f"the deletion of job {number} ({way}) removed {sorted(missing)[:3]} of job "
                   f"{victim['id']}")


def links_of_live_jobs(site, random, scene):
    """The same against the directory of a job that trains: its losses are compared in the end."""
    found = traitor(site, random, scene)
    if found is None or not scene.others.training:
        return
    number, folder, paths = found
    victim = site.job(random.choice(sorted(scene.others.training)))
    if victim is None:
        return
    target = scene.others.checkpoints(victim)
    if not target.exists():
        return
    mirror = target / "mirror"
    planted = [mirror / path.name for path in paths]
    for path in planted:
        path.mkdir(parents=True)
        (path / "manifest.json").write_text("{}")
    shutil.rmtree(folder)
    os.symlink(mirror, folder)
    site.record.count("deletions of links")
    delete(site, scene, number, folder)
    gone = [path for path in planted if not (path / "manifest.json").exists()]
    # Bystanders.keep removes the whole directory of an older ended job.
    if gone and mirror.exists():
        site.record.count("deletions that followed a link")
        site.blame(f"the deletion of job {number} removed {gone[0]} of live job {victim['id']}")
    shutil.rmtree(mirror, ignore_errors=True)


MISFORTUNES = (links, links_of_live_jobs)
