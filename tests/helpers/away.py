#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Nodes that stand still under a mount: processes end, run programs and can be looked at all the same.

away.py MOUNT OTHER PATIENCE CASES PID...: MOUNT is looked at, OTHER is another mount of the cluster; the PIDs are those of its nodes.
"""
import errno
import fcntl
import mmap
import os
import random
import signal
import subprocess
import sys
import time

mount, other, patience = sys.argv[1], sys.argv[2], float(sys.argv[3])
cases = sys.argv[4].split(',')
nodes = [int(p) for p in sys.argv[5:]]
bound = 2 * patience
failed = 0
PAGE = 4096


def say(what, good, more=''):
    global failed
    failed += not good
    print('%s: %s%s' % ('ok' if good else 'FAILED', what, more and ': %s' % more))
    sys.stdout.flush()


def stopped(p):
    for t in os.listdir('/proc/%d/task' % p):
        with open('/proc/%d/task/%s/stat' % (p, t)) as f:
            if f.read().rsplit(')', 1)[1].split()[0] != 'T':
                return False
    return True


def stop():
    for p in nodes:
        os.kill(p, signal.SIGSTOP)
    # It takes a moment.
    while any(not stopped(p) for p in nodes):
        time.sleep(0.01)


def go_on():
    for p in nodes:
        os.kill(p, signal.SIGCONT)


def path(name):
    return os.path.join(mount, name)


class Child:
    """A process that prepares, tells so, waits for go(), and acts."""

    def __init__(self, name, prepare, act):
        ready, self.start = os.pipe(), os.pipe()
        self.out = os.pipe()
        self.name = name
        self.pid = os.fork()
        if not self.pid:
            # Its descriptors stay open over exec, as those of a shell's programs do, but for the file's.
            it = prepare(name)
            os.write(ready[1], b'.')
            os.read(self.start[0], 1)
            try:
                said = act(it)
            except OSError as e:
                said = e.strerror
            os.write(self.out[1], str(said).encode())
            os._exit(0)
        os.read(ready[0], 1)

    def go(self):
        os.write(self.start[1], b'.')

    def readable(self):
        """Reads what ps reads, in a process that may hang."""
        entry = '/proc/%d/' % self.pid
        args = ['cat', entry + 'stat', entry + 'status', entry + 'cmdline', entry + 'maps']
        try:
            subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=bound)
        except subprocess.TimeoutExpired:
            return False
        return True

    def gone(self, until):
        while True:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            if time.time() > until:
                return False
            time.sleep(0.02)


def written(flags):
    def prepare(name):
        f = os.open(path(name), os.O_RDWR | os.O_CREAT | flags, 0o644)
        # Enough for a lease, so that the name server has yet to hear of the last ones.
        for _ in range(10):
            os.write(f, b'x' * 4000)
        return f
    return prepare


def locked(name):
    f = written(0)(name)
    fcntl.lockf(f, fcntl.LOCK_EX)
    return f


def mapped(name):
    f = written(0)(name)
    os.ftruncate(f, 4000 * PAGE)
    it = mmap.mmap(f, 4000 * PAGE)
    # The kernel has them all, so that nothing has to be read later.
    bytes(it)
    return f, it


def many(name):
    os.mkdir(path(name))
    return [written(os.O_APPEND)('%s/%d' % (name, i)) for i in range(40)]


def touch_pages(it):
    f, pages = it
    for i in random.sample(range(4000), 1500):
        pages[i * PAGE:i * PAGE + 4] = b'page'
    os.write(f, b'y')


def acts():
    big = b'y' * 3000000
    return [
        ('write', written(0), lambda f: os.write(f, big)),
        ('append', written(os.O_APPEND), lambda f: os.write(f, big)),
        ('fsync', written(0), lambda f: (os.write(f, b'y'), os.fsync(f))),
        ('close', written(os.O_APPEND), os.close),
        ('truncate', written(0), lambda f: os.ftruncate(f, 10)),
        ('allocate', written(0), lambda f: os.posix_fallocate(f, 0, 1000000)),
        ('lock', written(0), lambda f: fcntl.lockf(f, fcntl.LOCK_EX)),
        ('unlock', locked, lambda f: fcntl.lockf(f, fcntl.LOCK_UN)),
        ('flock', written(0), lambda f: fcntl.flock(f, fcntl.LOCK_EX)),
        ('exits with many files', many, lambda f: None),
        ('has mapped pages', mapped, touch_pages),
        ('read', written(0), lambda f: os.pread(f, 100, 4000)),
        ('open', written(0), lambda f: os.open(path('open'), os.O_RDWR | os.O_TRUNC)),
        ('create', written(0), lambda f: os.open(path('made'), os.O_RDWR | os.O_CREAT)),
        ('stat', written(0), lambda f: os.stat(path('none'))),
        ('mkdir', written(0), lambda f: os.mkdir(path('dir'))),
        ('rename', written(0), lambda f: os.rename(path('rename'), path('renamed'))),
        ('unlink', written(0), lambda f: os.unlink(path('unlink'))),
        ('list', written(0), lambda f: os.listdir(mount)),
        ('xattr', written(0), lambda f: os.setxattr(f, 'user.a', b'1')),
    ]


def killed():
    children = [Child(*a) for a in acts()]
    stop()
    for c in children:
        c.go()
    time.sleep(1)
    hidden = [c.name for c in children if not c.readable()]
    say('processes that wait can be looked at', not hidden, ', '.join(hidden))
    for c in children:
        os.kill(c.pid, signal.SIGKILL)
    until = time.time() + bound
    left = [c.name for c in children if not c.gone(until)]
    say('... and killed', not left, ', '.join(left))
    go_on()
    say('the mount goes on', subprocess.run(['ls', mount], stdout=subprocess.DEVNULL).returncode == 0)


def runs_program():
    """Close-on-exec closes a file of which others have yet to hear."""
    files = [written(os.O_APPEND)('exec.%d' % i) for i in range(3)]
    fcntl.lockf(files[0], fcntl.LOCK_EX)
    stop()
    begun = time.time()
    child = os.fork()
    if not child:
        os.execv('/bin/sleep', ['sleep', '1000'])
    name = ''
    while name != 'sleep' and time.time() < begun + bound + 1:
        time.sleep(0.05)
        try:
            name = subprocess.run(['cat', '/proc/%d/comm' % child], capture_output=True, text=True,
                                  timeout=bound).stdout.strip()
            subprocess.run(['cat', '/proc/%d/cmdline' % child, '/proc/%d/stat' % child], timeout=bound,
                           stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            name = 'hangs'
            break
    say('a process runs a program', name == 'sleep', name)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    go_on()
    for f in files:
        os.close(f)


def errno_of(call, *args):
    try:
        call(*args)
    except OSError as e:
        return e.errno
    return 0


def closes():
    f = written(os.O_APPEND)('closed')
    mine = os.dup(f)
    stop()
    begun = time.time()
    err = errno_of(os.close, f)
    took = time.time() - begun
    say('close fails in time', took < bound, '%.1f s' % took)
    say('... and says so', err == errno.ETIMEDOUT, errno.errorcode.get(err, err))
    go_on()
    say('the next fsync is fine', errno_of(os.fsync, mine) == 0)
    say('... and others see all', os.stat(os.path.join(other, 'closed')).st_size == 40000)
    say('so is the next close', errno_of(os.close, mine) == 0)


def pages():
    """What the kernel has given away is read again, by this mount and another, when the nodes are back."""
    f, m = mapped('pages')
    os.fsync(f)
    stop()
    want = random.sample(range(4000), 500)
    for i in want:
        m[i * PAGE:i * PAGE + 4] = b'page'
    begun = time.time()
    m.close()
    took = time.time() - begun
    say('mapped pages are given away in time', took < bound, '%.1f s' % took)
    err = errno_of(os.close, os.dup(f))
    say('... which close does not hide', err == errno.ETIMEDOUT, errno.errorcode.get(err, err))
    os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)
    reader = os.fork()
    if not reader:
        good = all(os.pread(f, 4, i * PAGE) == b'page' for i in want)
        os._exit(0 if good else 1)
    time.sleep(0.5)
    go_on()
    say('a reader gets them, and nothing older', os.waitpid(reader, 0)[1] == 0)
    say('the next fsync is fine', errno_of(os.fsync, f) == 0)
    g = os.open(os.path.join(other, 'pages'), os.O_RDONLY)
    say('another mount has them', all(os.pread(g, 4, i * PAGE) == b'page' for i in want))
    os.close(g)
    os.close(f)


def overwrites():
    """A write of a process that was killed does not come over a later one."""
    f = written(0)('over')
    child = Child('over', lambda name: os.open(path(name), os.O_RDWR), lambda g: os.pwrite(g, b'a' * 2000000, 0))
    stop()
    child.go()
    time.sleep(1)
    os.kill(child.pid, signal.SIGKILL)
    say('the writer is killed', child.gone(time.time() + bound))
    second = os.fork()
    if not second:
        os.pwrite(f, b'b' * 2000000, 0)
        os._exit(0)
    time.sleep(0.3)
    go_on()
    os.waitpid(second, 0)
    say('a later write stands', os.pread(f, 2000000, 0) == b'b' * 2000000)
    say('... and is synced', errno_of(os.fsync, f) == 0)
    os.close(f)


try:
    for case in cases:
        {'killed': killed, 'runs': runs_program, 'closes': closes, 'pages': pages, 'overwrites': overwrites}[case]()
finally:
    go_on()
sys.exit(1 if failed else 0)
