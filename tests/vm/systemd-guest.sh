#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# systemd.sh's part in the machine, as a service of it: what boot has made, then restarts and ends.
. "$(dirname "$0")/lib_guest.sh"
# after A B: A became active no earlier than B
after() { [ "$(show "$1" ActiveEnterTimestampMonotonic)" -ge "$(show "$2" ActiveEnterTimestampMonotonic)" ]; }
daemon() { show ddiod@io0 MainPID; }

# Boot.
check "the daemon was started at boot" active ddiod@io0
check "the line of fstab is mounted" active mnt-data.mount
check "... and a mount" is_mounted /mnt/data || exit
check "the mount came after its daemon" after mnt-data.mount ddiod@io0
check "the daemon came after the network" after ddiod@io0 network-online.target
check "remote-fs.target came after the mount" after remote-fs.target mnt-data.mount
check "nothing failed at boot" [ -z "$(systemctl --failed --plain --no-legend)" ]

# Checks the daemon's user.
status() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$(daemon)/status"; }
check "the daemon is the user ddio" [ "$(stat -c %U "/proc/$(daemon)")" = ddio ]
check "... without any capability" [ "$(status CapEff)$(status CapBnd)" = 00000000000000000000000000000000 ]
check "... who may not get any" [ "$(status NoNewPrivs)" = 1 ]
check "... and may pin memory" grep -q 'Max locked memory *unlimited' "/proc/$(daemon)/limits"
check "its records are its own" [ "$(stat -c '%U %a' /var/lib/ddio)" = 'ddio 750' ]
export DDIO_CONF=/etc/ddio/ddio.conf
check "its disks have the kernel engine" [ "$(ddio status | grep -cw kmod)" = 2 ]
check "/dev/ddio is of the group disk" [ "$(stat -c '%G %a' /dev/ddio)" = 'disk 660' ]

# Restarts daemons under a mount.
exec 9>/mnt/data/open
echo one >&9
sync /mnt/data/open
check "the daemon restarts" systemctl restart ddiod@io0
check "... and a file that was open goes on" eval 'echo two >&9'
sync /mnt/data/open
old=$(daemon)
kill -9 "$old"
back() { active ddiod@io0 && [ "$(daemon)" != "$old" ] && [ "$(daemon)" != 0 ]; }
check "killed, it comes back" soon back
check "... and a file that was open goes on" eval 'echo three >&9'
exec 9>&-
check "... with all that was written" [ "$(tr '\n' ' ' </mnt/data/open)" = 'one two three ' ]
check "the mount is the same" active mnt-data.mount

# Has the service manager mount.
check "stop the mount" systemctl stop mnt-data.mount
check "... it is gone" eval '! is_mounted /mnt/data'
check "start the mount" systemctl start mnt-data.mount
check "... with its files" [ "$(wc -l </mnt/data/open)" = 3 ]
check "by use" [ "$(wc -l </mnt/auto/open)" = 3 ]
check "... it was an automount" active mnt-auto.mount
check "stop it" systemctl stop mnt-auto.automount mnt-auto.mount
mkdir -p /etc/ddio && echo 'OPTIONS=noatime,nosuid' >/etc/ddio/ddiofs.env
check "a mount as a service" systemctl start ddiofs@mnt-other
check "... is there for all" is_mounted /mnt/other
check "... as its options say" grep -q ' /mnt/other fuse.ddio [^ ]*nosuid' /proc/self/mounts
old=$(show ddiofs@mnt-other MainPID)
kill -9 "$old"
again() { active ddiofs@mnt-other && [ "$(show ddiofs@mnt-other MainPID)" != "$old" ] && [ -e /mnt/other/open ]; } 2>/dev/null
check "killed, it comes back" soon again
check "it stops" systemctl stop ddiofs@mnt-other
check "... and is no mount any more" eval '! is_mounted /mnt/other'

# Mounts without a daemon.
systemctl stop mnt-data.mount ddiod@io0
fails() { ! timeout $((120 * DDIO_PATIENCE)) systemctl start "$1" 2>/dev/null; }
check "no daemon: the mount fails" fails mnt-data.mount
check "... and the journal says why" eval 'journalctl -b -u mnt-data.mount | grep -q "cannot connect"'
check "the daemon starts" systemctl start ddiod@io0
check "and now the mount" systemctl start mnt-data.mount

# Somebody at work when the machine is told to end, and a mount as a service.
check "a service works on the mount" systemctl start writer
check "it has written" soon [ -s /mnt/data/written ]
check "a mount as a service" systemctl start ddiofs@mnt-other
