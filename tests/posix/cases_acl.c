// SPDX-License-Identifier: GPL-2.0-only
/* POSIX ACLs: permissions, their agreement with the mode, the lists of new files. */
#include "posix.h"

#define ACL "u::rw-,u:10001:rw-,g::r--,m::rw-,o::---"
#define DEF "u::rwx,u:10001:r-x,g::r-x,m::r-x,o::---"

const struct px_case px_cases_acl[] = {
	PX("set and get", "create f; setacl f access " ACL "; getacl f access " ACL),
	PX("none", "create f; ENODATA getacl f access " ACL),
	PX("named user may", "create f 600 abc; 1: EACCES open #0 f r; setacl f access " ACL
			     "; 1: open #0 f rw; 1: read #0 9 abc; 2: EACCES open #1 f r"),
	PX("mask bounds",
	   "create f 600; setacl f access u::rw-,u:10001:rwx,g::---,m::r--,o::---; 1: open #0 f r; 1: EACCES open #1 f w"),
	PX("named group may",
	   "create f 600; setacl f access u::rw-,g::---,g:10001:r--,m::r--,o::---; 1: open #0 f r; 2: EACCES open #1 f r"),
	PX("named further group may",
	   "create f 600; setacl f access u::rw-,g::---,g:10002:r--,m::r--,o::---; 3: open #0 f r"),
	PX("named user before groups",
	   "create f 600; setacl f access u::rw-,u:10001:---,g::rwx,g:10001:rwx,m::rwx,o::rwx; 1: EACCES open #0 f r"),
	PX("any group suffices",
	   "create f 600; chown f 0 10001; setacl f access u::rw-,g::---,g:10002:rw-,m::rw-,o::---; 3: open #0 f rw"),
	PX("groups that refuse, others do not count",
	   "create f 600; chown f 0 10001; setacl f access u::rw-,g::---,m::rwx,o::rwx; 1: EACCES open #0 f r"),
	PX("sets the mode",
	   "create f 600; setacl f access u::rwx,u:10001:rw-,g::r--,m::rw-,o::--x; stat f mode=761"),
	PX("mode sets the mask",
	   "create f 600; setacl f access " ACL
	   "; chmod f 640; getacl f access u::rw-,u:10001:rw-,g::r--,m::r--,o::---; 1: EACCES open #0 f w"),
	PX("mode sets owner and others",
	   "create f 600; setacl f access " ACL
	   "; chmod f 407; getacl f access u::r--,u:10001:rw-,g::r--,m::---,o::rwx"),
	PX("minimal is the mode",
	   "create f 600; setacl f access u::rwx,g::r-x,o::--x; stat f mode=751; ENODATA getacl f access x"),
	PX("removed", "create f 600; setacl f access " ACL
		      "; removeacl f access; ENODATA getacl f access x; 1: EACCES open #0 f r"),
	PX("by another", "create f 666; 1: EPERM setacl f access " ACL),
	PX("by the owner",
	   "1: create f 600; 1: setacl f access u::rw-,u:10002:r--,g::---,m::r--,o::---; 2: open #0 f r"),
	PX("ctime", "create f; mark f; setacl f access " ACL "; changed f c"),
	PX("without a mask", "create f; EINVAL setacl f access u::rw-,u:10001:rw-,g::r--,o::---"),
	PX("without an owner", "create f; EINVAL setacl f access g::r--,o::---"),
	PX("default of a file", "create f; EACCES setacl f default " DEF),
	PX("default",
	   "mkdir d; setacl d default " DEF "; getacl d default " DEF "; stat d mode=755"),
	PX("default removed",
	   "mkdir d; setacl d default " DEF "; removeacl d default; ENODATA getacl d default x"),
	PX("inherited by a file",
	   "mkdir d 777; setacl d default " DEF
	   "; create d/f 666; getacl d/f access u::rw-,u:10001:r-x,g::r-x,m::r--,o::---; stat d/f mode=640; ENODATA getacl d/f default x"),
	PX("inherited by a directory",
	   "mkdir d 777; setacl d default " DEF "; mkdir d/e 777; getacl d/e default " DEF
	   "; getacl d/e access " DEF "; stat d/e mode=750"),
	PX("inherited by a fifo",
	   "mkdir d 777; setacl d default " DEF
	   "; mkfifo d/p 666; getacl d/p access u::rw-,u:10001:r-x,g::r-x,m::r--,o::---"),
	PX("inheriting leaves the umask out",
	   "mkdir d 777; setacl d default u::rwx,u:10001:rwx,g::rwx,m::rwx,o::rwx; umask 077; create d/f 666; umask 0; stat d/f mode=666"),
	PX("minimal default replaces the umask",
	   "mkdir d 777; setacl d default u::rwx,g::rwx,o::r-x; umask 077; create d/f 666; umask 0; stat d/f mode=664; ENODATA getacl d/f access x"),
	PX("not inherited by a link",
	   "mkdir d 777; setacl d default " DEF "; symlink x d/s; lstat d/s mode=777"),
	PX("inherited two deep", "mkdir d 777; setacl d default " DEF
				 "; mkdir d/e; mkdir d/e/g; getacl d/e/g default " DEF),
	PX("umask without a default",
	   "mkdir d 777; umask 027; create d/f 666; umask 0; stat d/f mode=640"),
	PX("directory's access",
	   "mkdir d 700; create d/f 644 abc; 1: EACCES stat d/f; setacl d access u::rwx,u:10001:--x,g::---,m::--x,o::---; 1: content d/f abc; 1: EACCES list d"),
	PX("kept at rename",
	   "create f 600; setacl f access " ACL "; rename f g; getacl g access " ACL),
	PX_BY_ROOT("kept at chown", "create f 600; setacl f access " ACL
				    "; chown f 10002 10002; getacl f access " ACL),
	PX("clears setgid of another group",
	   "create f 755; chown f 10001 10002; chmod f 2755; 1: setacl f access u::rwx,u:10002:r-x,g::r-x,m::r-x,o::r-x; stat f mode=755"),
	PX_END
};
