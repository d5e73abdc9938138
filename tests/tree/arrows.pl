#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# quick
#
# The architecture, computed afresh from the includes and from the symbols of the objects
# (build/, or O=), and compared with the table "rooms" beside this file:
#
#   - every file stands in a room of the table, and sees only what its room may see;
#   - no circle of files goes through two rooms, and none has more than six files;
#   - no folder holds more than 25 files of code;
#   - only env reaches the world outside: sockets, clocks, threads.
#
#   arrows.pl [REGEX]     with REGEX: prints the arrows between files whose line
#                         "FROM TO WHAT" matches, and judges nothing
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

my $max_circle = 6;
my $max_files  = 25;
my $code       = qr{^(?:userlib|fuse|tools|kmod)/.*\.[ch]$};

top();
my (%sees, @rooms);    # room => { room it may see => 1 }; bottom to top
read_rooms('tests/tree/rooms');
my %room = map { $_ => room_of($_) } files(qr{^(?:userlib|fuse|tools|kmod|include)/.*\.[ch]$});

sub read_rooms {
	my ($table) = @_;
	for (split /\n/, slurp($table)) {
		s/#.*//;
		next unless /\S/;
		my ($room, $list) = /^(\S+):\s*(.*?)\s*$/ or die "$table: $_\n";
		die "$table: $room stands there twice\n" if $sees{$room};
		my %may;
		for (split ' ', $list) {
			my $all = s/^\+//;
			$sees{$_} or die "$table: $room is to see $_, which does not stand above it\n";
			$may{$_} = 1;
			%may = (%may, %{ $sees{$_} }) if $all;
		}
		$sees{$room} = \%may;
		push @rooms, $room;
	}
}

# Returns a file's room: the file itself, or its folder.
sub room_of {
	my ($file) = @_;
	return $file if $sees{$file};
	return $file =~ s{/[^/]*$}{}r;
}

# { from => { to => what } } by includes
sub include_arrows {
	my %arrows;
	for my $f (files($code)) {
		my ($dir) = $f =~ m{^(.*)/};
		my $text = code_of($f);
		while ($text =~ /^[ \t]*#[ \t]*include[ \t]*["<]([^">]*)[">]/mg) {
			my ($to) = grep { $room{$_} }
				map { "$_/$1" =~ s{^\./}{}r }
				$dir, 'include', 'userlib', 'kmod/shared', '.', 'include/uapi';
			$arrows{$f}{$to} = 'include' if $to && $to ne $f;
		}
	}
	return \%arrows;
}

# The same by symbols; the first definition of a name counts.
sub symbol_arrows {
	my @objects = @_;
	my (%def, %arrows);
	my $sym = symbols(@objects);
	for my $f (sort keys %$sym) { $def{$_} //= $f for @{ $sym->{$f}{def} } }
	for my $f (sort keys %$sym) {
		my %names;
		for (@{ $sym->{$f}{use} }) {
			push @{ $names{ $def{$_} } }, $_ if $def{$_} && $def{$_} ne $f;
		}
		$arrows{$f}{$_} = join ',', @{ $names{$_} } for keys %names;
	}
	return \%arrows;
}

# The modules' objects as the virtual machines' build leaves them, for any kernel for which they are up to date.
sub module_objects {
	my @sources = files(qr{^kmod/(?:ddio|hp97560|shared)/.*\.c$});
	for my $top (glob('build/kmod/*/src'), '.') {
		my @found = map { ["$top/" . s/c$/o/r, $_] } @sources;
		return @found unless grep { !-e $_->[0] || -M $_->[0] > -M $_->[1] } @found;
	}
	return ();
}

sub judge_arrows {
	my ($how, $arrows) = @_;
	my %seen;
	for my $f (sort keys %$arrows) {
		my @wrong;
		for my $to (sort keys %{ $arrows->{$f} }) {
			my ($a, $b) = ($room{$f}, $room{$to});
			next if $a eq $b || !$sees{$a} || $sees{$a}{$b};
			push @wrong, "$f -> $to ($arrows->{$f}{$to}): $a may not see $b";
		}
		check($how, @wrong);
	}
}

sub judge_circles {
	my ($how, $arrows) = @_;
	my @wrong;
	for my $c (circles($arrows)) {
		my %rooms = map { $room{$_} => 1 } @$c;
		next if keys %rooms == 1 && @$c <= $max_circle;
		my %in = map { $_ => 1 } @$c;
		push @wrong, scalar(@$c) . " files in a circle:\n" . join '', map {
			my $f = $_;
			map { "    $f -> $_ ($arrows->{$f}{$_})\n" }
				sort grep { $in{$_} } keys %{ $arrows->{$f} }
		} @$c;
	}
	check("circles by $how", @wrong);
}

sub judge_folders {
	my %n;
	$n{ s{/[^/]*$}{}r }++ for files(qr{^(?:userlib|fuse|tools|kmod|tests/unit)/.*\.[chS]$});
	for my $d (sort keys %n) {
		check($d, $n{$d} > $max_files ? "$n{$d} files of code, more than $max_files" : ());
	}
	my %inhabited = map { $_ => 1 } values %room;
	for my $r (sort keys %inhabited) { check($r, $sees{$r} ? () : 'is not in tests/tree/rooms') }
	for my $r (@rooms) { check("rooms: $r", $inhabited{$r} ? () : 'has no file') }
}

# What reaches the outside behind env's back.  <time.h> has a struct that records need; its calls are no
# less forbidden.
my $world_headers = qr{sys/socket\.h|sys/epoll\.h|poll\.h|pthread\.h|threads\.h|sys/time\.h|netdb\.h
	|netinet/.*|libaio\.h|sys/timerfd\.h|sys/eventfd\.h|sched\.h|signal\.h}x;
my $world_calls = qr{clock_gettime|gettimeofday|time|usleep|clock_nanosleep|timer_create|nanosleep|pthread_create|epoll_wait|recv|socket};

sub judge_world {
	for my $f (files(qr{^userlib/(?:cp|iop|conn|map|proto)/.*\.[ch]$})) {
		my $text = code_of($f);
		my @wrong;
		push @wrong, "includes <$1>: the outside world is env's"
			while $text =~ /^[ \t]*#[ \t]*include[ \t]*<($world_headers)>/mg;
		push @wrong, "calls $1(): the outside world is env's" while $text =~ /\b($world_calls)\(/g;
		check($f, @wrong);
	}
}

# The library's symbols are seen by whoever is linked with it; of its headers programs have the public ones only.
sub judge_public {
	for my $f (files(qr{^userlib/mpiio/.*\.[ch]$})) {
		my @inside = code_of($f) =~ /^[ \t]*#[ \t]*include[ \t]*"((?!mpiio\/)[^"]*)"/mg;
		check($f, map { "includes \"$_\": only <ddio/...> is public" } @inside);
	}
}

my @user = objects(qr{^(?:userlib|kmod/shared|fuse|tools)/.*\.c$});
my @kernel = module_objects();
my %arrows = (
	includes => include_arrows(),
	symbols => symbol_arrows(@user),
	'symbols of the modules' => symbol_arrows(@kernel),
);

if (@ARGV) {
	for my $how (sort keys %arrows) {
		for my $f (sort keys %{ $arrows{$how} }) {
			for (sort keys %{ $arrows{$how}{$f} }) {
				my $line = "$f $_ $arrows{$how}{$f}{$_}";
				print "$line\n" if $line =~ /$ARGV[0]/;
			}
		}
	}
	exit 0;
}

my %built = map { $_->[1] => 1 } @user;
my @without = grep { !$built{$_} } files(qr{^(?:userlib|kmod/shared|fuse|tools)/.*\.c$});
my @of_mpi = grep { m{^userlib/mpiio/} } @without;
check('symbols', map { "$_ has no object in " . build() . ': build first' }
	grep { !m{^userlib/mpiio/} } @without);
skip('no objects of libddio_mpiio (make mpiio, with an MPI)') if @of_mpi;
skip('no new objects of the modules (tests/vm/build.sh makes them)') unless @kernel;
for my $how (sort keys %arrows) {
	judge_arrows($how, $arrows{$how});
	judge_circles($how, $arrows{$how});
}
judge_folders();
judge_world();
judge_public();
finish();
