// SPDX-License-Identifier: GPL-2.0-only
/* Locks between processes; with --other, between mounts. */
#include "posix.h"

#define TWO "create f 666 abcdefghij; open #0 f rw; B: open #0 f rw; "
#define FREE(from, len) "B: getlk #0 w " from " " len " free; "

const struct px_case px_cases_lock[] = {
	PX("write against write", TWO
	   "lock #0 w 0 10; B: EAGAIN lock #0 w 0 10; lock #0 u 0 10; B: lock #0 w 0 10; EAGAIN lock #0 w 0 10"),
	PX("read with read", TWO "lock #0 r 0 10; B: lock #0 r 0 10"),
	PX("read against write", TWO "lock #0 w 0 10; B: EAGAIN lock #0 r 5 1"),
	PX("write against read", TWO "lock #0 r 0 10; B: EAGAIN lock #0 w 5 1"),
	PX("beside each other", TWO
	   "lock #0 w 0 10; B: lock #0 w 10 10; lock #0 w 20 10; B: EAGAIN lock #0 w 9 1; EAGAIN lock #0 w 10 1"),
	PX("one byte",
	   TWO "lock #0 w 5 1; B: lock #0 w 4 1; B: lock #0 w 6 1; B: EAGAIN lock #0 w 5 1"),
	PX("to the end of the file",
	   TWO "lock #0 w 100 0; B: EAGAIN lock #0 w 1000000000000 1; B: lock #0 w 0 100"),
	PX("whole file",
	   TWO "lock #0 w 0 0; B: EAGAIN lock #0 r 0 1; B: EAGAIN lock #0 r 9000000000 1"),
	PX("split by unlocking", TWO
	   "lock #0 w 0 30; lock #0 u 10 10; B: lock #0 w 10 10; B: EAGAIN lock #0 w 9 1; B: EAGAIN lock #0 w 20 1"),
	PX("joined", TWO "lock #0 w 0 10; lock #0 w 10 10; B: getlk #0 w 0 100 w 0 20"),
	PX("changed in the middle", TWO
	   "lock #0 w 0 30; lock #0 r 10 10; B: lock #0 r 10 10; B: EAGAIN lock #0 r 9 1; B: EAGAIN lock #0 r 20 1"),
	PX("upgraded", TWO "lock #0 r 0 10; lock #0 w 0 10; B: EAGAIN lock #0 r 0 10"),
	PX("downgraded", TWO "lock #0 w 0 10; lock #0 r 0 10; B: lock #0 r 0 10"),
	PX("upgrade refused",
	   TWO "lock #0 r 0 10; B: lock #0 r 0 10; EAGAIN lock #0 w 0 10; B: getlk #0 w 0 10 r"),
	PX("again by the same",
	   TWO "lock #0 w 0 10; lock #0 w 0 10; lock #0 u 0 10; " FREE("0", "10")),
	PX("unlocking nothing", TWO "lock #0 u 0 10; " FREE("0", "10")),
	PX("getlk says who", TWO
	   "lock #0 w 5 10; B: getlk #0 w 0 100 w 5 10; B: getlk #0 r 0 100 w 5 10; B: getlk #0 w 15 1 free; B: getlk #0 w 0 5 free"),
	PX("getlk of a read lock",
	   TWO "lock #0 r 5 10; B: getlk #0 r 0 100 free; B: getlk #0 w 0 100 r 5 10"),
	PX("getlk to the end", TWO "lock #0 w 5 0; B: getlk #0 w 0 0 w 5 0"),
	PX("getlk tells the lowest", TWO
	   "lock #0 w 40 5; lock #0 w 20 5; C: open #0 f rw; C: lock #0 w 10 5; lock #0 w 30 5; B: getlk #0 w 0 0 w 10 5; B: getlk #0 r 16 0 w 20 5; C: getlk #0 w 25 0 w 30 5"),
	PX("one's own are not in the way", TWO "lock #0 w 0 10; getlk #0 w 0 10 free"),
	PX("closing gives up", TWO "lock #0 w 0 10; close #0; B: lock #0 w 0 10"),
	PX("closing any gives up", TWO "open #1 f r; lock #0 w 0 10; close #1; B: lock #0 w 0 10"),
	PX("closing a copy gives up", TWO "lock #0 w 0 10; dup #0 #1; close #1; B: lock #0 w 0 10"),
	PX("a process that dies gives up",
	   TWO "B: lock #0 w 0 10; EAGAIN lock #0 w 0 10; kill B; lock #0 w 0 10"),
	PX("waits", TWO
	   "lock #0 w 0 10; B& lockw #0 w 0 10; busy B; lock #0 u 0 10; join B; EAGAIN lock #0 r 0 1"),
	PX("waits for closing", TWO "lock #0 w 0 10; B& lockw #0 w 0 10; busy B; close #0; join B"),
	PX("waits for a death", TWO
	   "C: open #0 f rw; B: lock #0 w 0 10; C& lockw #0 w 0 10; busy C; kill B; join C; EAGAIN lock #0 r 0 1"),
	PX("waits for a part", TWO
	   "lock #0 w 0 30; B& lockw #0 w 10 5; busy B; lock #0 u 0 10; busy B; lock #0 u 10 5; join B; lock #0 r 20 5"),
	PX("waits for a downgrade",
	   TWO "lock #0 w 0 10; B& lockw #0 r 0 10; busy B; lock #0 r 0 10; join B"),
	PX("two wait, both read", TWO
	   "C: open #0 f rw; lock #0 w 0 10; B& lockw #0 r 0 10; C& lockw #0 r 0 10; busy B; busy C; lock #0 u 0 10; join B; join C"),
	PX("two wait, one after the other", TWO
	   "C: open #0 f rw; lock #0 w 0 10; B& lockw #0 w 0 10; busy B; C& lockw #0 w 0 10; busy C; lock #0 u 0 10; join B; busy C; B: lock #0 u 0 10; join C"),
	PX("a signal ends the waiting", TWO
	   "lock #0 w 0 10; B& EINTR lockw #0 w 0 10; busy B; interrupt B; join B; lock #0 u 0 10; lock #0 w 0 10; B: EAGAIN lock #0 w 0 1"),
	PX("waits again after a signal", TWO
	   "lock #0 w 0 10; B& EINTR lockw #0 w 0 10; busy B; interrupt B; join B; B& lockw #0 w 0 10; busy B; lock #0 u 0 10; join B"),
	PX("killed while waiting", TWO
	   "lock #0 w 0 10; B& lockw #0 w 0 10; busy B; kill B; lock #0 u 0 10; C: open #0 f rw; C: lock #0 w 0 10"),
	PX("deadlock", TWO
	   "lock #0 w 0 1; B: lock #0 w 1 1; B& lockw #0 w 0 1; busy B; EDEADLK lockw #0 w 1 1; lock #0 u 0 1; join B"),
	PX("deadlock of three", TWO
	   "C: open #0 f rw; lock #0 w 0 1; B: lock #0 w 1 1; C: lock #0 w 2 1; B& lockw #0 w 0 1; busy B; C& lockw #0 w 1 1; busy C; EDEADLK lockw #0 w 2 1; lock #0 u 0 1; join B; B: lock #0 u 0 2; join C"),
	PX("deadlock over two files",
	   "create f 666; create g 666; open #0 f rw; open #1 g rw; B: open #0 f rw; B: open #1 g rw; lock #0 w 0 1; B: lock #1 w 0 1; B& lockw #0 w 0 1; busy B; EDEADLK lockw #1 w 0 1; lock #0 u 0 1; join B"),
	PX("read lock needs reading", "create f; open #0 f w; EBADF lock #0 r 0 1; lock #0 w 0 1"),
	PX("write lock needs writing", "create f; open #0 f r; EBADF lock #0 w 0 1; lock #0 r 0 1"),
	PX("negative start", "create f; open #0 f rw; EINVAL lock #0 w -1 1"),
	PX("backwards", TWO
	   "lock #0 w 10 -5; B: EAGAIN lock #0 w 5 1; B: EAGAIN lock #0 w 9 1; B: lock #0 w 10 1; B: lock #0 w 4 1"),
	PX("files do not meet",
	   "create f 666; create g 666; open #0 f rw; B: open #0 g rw; lock #0 w 0 10; B: lock #0 w 0 10"),
	PX("unlinked file", TWO
	   "lock #0 w 0 10; unlink f; B: EAGAIN lock #0 w 0 10; lock #0 u 0 10; B: lock #0 w 0 10"),
	PX("rename does not matter", TWO "lock #0 w 0 10; rename f g; B: EAGAIN lock #0 w 0 10"),
	PX("lock and data", TWO
	   "lock #0 w 0 10; pwrite #0 0 XY; lock #0 u 0 10; B: lock #0 w 0 10; B: pread #0 0 3 XYc; B: pwrite #0 2 Z; B: lock #0 u 0 10; lockw #0 r 0 10; pread #0 0 4 XYZd"),
	PX("of the open file", TWO
	   "open #1 f rw; olock #0 w 0 10; EAGAIN olock #1 w 0 10; B: EAGAIN lock #0 w 0 10; close #0; olockw #1 w 0 10"),
	PX("flock", TWO
	   "flock #0 ex; B: EAGAIN flock #0 ex,nb; B: EAGAIN flock #0 sh,nb; flock #0 un; B: flock #0 ex,nb"),
	PX("flock shared", TWO "flock #0 sh; B: flock #0 sh,nb; B: EAGAIN flock #0 ex,nb"),
	PX("flock waits",
	   TWO "flock #0 ex; B& flock #0 ex; busy B; flock #0 un; join B; EAGAIN flock #0 sh,nb"),
	PX("flock, two opens of a process",
	   "create f; open #0 f rw; open #1 f rw; flock #0 ex; EAGAIN flock #1 ex,nb; close #0; flock #1 ex"),
	PX("flock, copies are one", TWO
	   "flock #0 ex; dup #0 #1; flock #1 ex,nb; close #0; B: EAGAIN flock #0 ex,nb; close #1; B: flock #0 ex"),
	PX("flock downgraded", TWO "flock #0 ex; flock #0 sh; B: flock #0 sh,nb"),
	PX("flock of a read-only", "create f; open #0 f r; flock #0 ex,nb"),
	PX("flock of one that dies",
	   TWO "B: flock #0 ex; EAGAIN flock #0 ex,nb; kill B; flock #0 ex"),
	PX("flock, a signal ends the waiting", TWO
	   "flock #0 ex; B& EINTR flock #0 ex; busy B; interrupt B; join B; flock #0 un; flock #0 ex,nb"),
	PX("flock and fcntl do not meet",
	   TWO "flock #0 ex; B: lock #0 w 0 0; B: EAGAIN flock #0 sh,nb"),
	PX("flock of a removed file",
	   TWO "flock #0 ex; unlink f; B: EAGAIN flock #0 ex,nb; flock #0 un; B: flock #0 ex,nb"),
	PX("flock, wrong", "create f; open #0 f rw; EINVAL flock #0 nb"),
	PX_END
};
