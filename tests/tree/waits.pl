#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Calls that may wait for somebody else: another user's process, a daemon of the machine, a name server, a file system that another
# program serves.  tests/tree/waits.list says of each place in the library, the mount and the daemon why nobody waits there for longer
# than the timeout.  A place that is not listed, and a line whose place is gone, are errors.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
# Where descriptors come from others, each close is listed, too.
my $foreign = qr{^(?:userlib/env/(?:local|kernel|real)/|userlib/env/[^/]*$|tools/ddiod/http\.c)};
my $calls = qr/\b(?<![.>])(getaddrinfo|getpw\w+|getgr\w+|initgroups|ddio_munge_make|ddio_munge_check|ddio_addr_resolve|dlopen|connect|
	recvmsg|sendmsg|accept4?|fopen|popen|realpath|readlink|flock|waitpid|pthread_join|syslog|dprintf|getxattr|fstatfs|statfs|syncfs|
	nanosleep|usleep|close_aside|close)\s*\(|\blib\.((?:en|de)code)\s*\(/x;
my %there;
for my $f (files(qr{^(?:userlib|fuse|tools/ddiod)/.*\.c$})) {
	next if $f =~ m{^userlib/(?:sim|mpiio)/};
	my $text = code_of($f);
	while ($text =~ /$calls/g) {
		my $call = $1 // "munge_$2";
		my $before = substr($text, 0, $-[0]);
		# A definition, or a member of a table.
		next if $before =~ /(?:^|\n)(?:static\s+)?[a-z][\w ]*[\s*]$/ && $before !~ /\breturn\s$/;
		next if $call eq 'close' && $f !~ $foreign;
		next if $call eq 'close_aside';
		$there{"$f $call"}++;
	}
}
my %said;
open(my $in, '<', 'tests/tree/waits.list') or die "waits.list: $!\n";
while (<$in>) {
	next if /^(?:#.*)?$/;
	check("waits.list: $.", 'is not "FILE CALL: why"') unless /^(\S+ \w+): (\S.*)$/;
	$said{$1} = $2 if /^(\S+ \w+): (\S.*)$/;
}
for my $place (sort keys %there) {
	check($place, $said{$place} ? () : 'may wait for somebody else, and is not in tests/tree/waits.list');
}
for my $place (sort keys %said) {
	check("waits.list: $place", $there{$place} ? () : 'is not there any more');
}
finish();
