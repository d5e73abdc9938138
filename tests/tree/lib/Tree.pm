# SPDX-License-Identifier: GPL-2.0-only
# What the tests of the tree share: files, sources without comments, symbols of objects, the count.
package Tree;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
our @EXPORT = qw(top build files changed slurp without_comments code_of comments objects symbols circles ok bad check skip finish);

my ($passed, $failed, $skipped) = (0, 0, 0);
my ($name) = $0 =~ m{([^/]+?)(?:\.pl)?$};

# Changes to the top of the tree.
sub top {
	my ($dir) = abs_path($0) =~ m{^(.*)/tests/tree/};
	chdir $dir or die "$name: $dir: $!\n";
	return $dir;
}

# Returns the folder with the objects to examine.
sub build { return $ENV{O} // 'build' }

sub ok { $passed++; return 1 }

sub bad {
	print "$name: @_\n";
	$failed++;
	return 0;
}

# check($what, @findings): passes if there is no finding, else each fails
sub check {
	my ($what, @findings) = @_;
	return ok() unless @findings;
	bad("$what: $_") for @findings;
	return 0;
}

sub skip {
	print "$name: skip: @_\n";
	$skipped++;
}

sub finish {
	print "$passed passed, $failed failed, $skipped skipped\n";
	exit($failed ? 1 : 0);
}

# files($regex): the project's files whose path matches, in order
my @all;

sub files {
	my ($re) = @_;
	if (!@all) {
		my $cmd = -e '.git' ? 'git ls-files -co --exclude-standard' : 'find . -type f -not -path "./build/*"';
		@all = sort grep { -f } map { chomp; s{^\./}{}r } `$cmd`;
	}
	return grep { /$re/ } @all;
}

# changed($regex): those of files($regex) that this test has not passed yet, under make quick; elsewhere all,
# and also if the test itself, or anything beside it, has changed
sub changed {
	my ($re) = @_;
	my $since = (stat($ENV{SINCE} || ''))[9];
	return files($re) if !defined $since || grep { (stat)[9] >= $since } files(qr{^tests/tree/});
	return grep { (stat)[9] >= $since } files($re);
}

sub slurp {
	my ($file) = @_;
	open my $f, '<', $file or die "$name: $file: $!\n";
	local $/;
	my $text = <$f>;
	return $text // '';
}

my $token = qr{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(/\*.*?\*/|//[^\n]*)}s;

# Returns the code with every comment replaced by as many line ends as it has.
sub without_comments {
	my ($text) = @_;
	$text =~ s{$token}{ defined $1 ? $1 : $2 =~ tr/\n//cdr || ' ' }ge;
	return $text;
}

# code_of($file): the same of a file, computed once
my %code;

sub code_of {
	my ($file) = @_;
	return $code{$file} //= without_comments(slurp($file));
}

# Returns the comments alone, on their lines.
sub comments {
	my ($text) = @_;
	my ($out, $at) = ('', 0);
	while ($text =~ /$token/g) {
		next unless defined $2;
		my ($from, $comment) = ($-[2], $2);
		$out .= substr($text, $at, $from - $at) =~ tr/\n//cdr;
		$out .= $comment;
		$at = $from + length $comment;
	}
	return $out;
}

# objects($regex): [object, source] of every source that matches and has been built
sub objects {
	my ($re) = @_;
	my @found;
	for my $c (files($re)) {
		next unless $c =~ /\.c$/;
		my $o = (grep { -e $_ } object_places($c =~ s/c$/o/r))[0];
		push @found, [$o, $c] if $o;
	}
	return @found;
}

# Where an object may be: a back end's are built for each MPI that the machine has.
sub object_places {
	my ($o) = @_;
	my @places = (build() . "/$o");
	if ($o =~ s{^userlib/mpiio/}{}) {
		push @places, map { "$_/$o" } glob(build() . '/ddio-mpiio/*/.'), glob('build/ddio-mpiio/*/.');
	}
	return @places;
}

# symbols(@objects): per source { type => [names] }: "def" and "use"
sub symbols {
	my @pairs = @_;
	my (%of, %sym);
	$of{ $_->[0] } = $_->[1] for @pairs;
	$sym{ $_->[1] } = { def => [], use => [] } for @pairs;
	while (my @some = splice @pairs, 0, 200) {
		open my $nm, '-|', 'nm', '-A', map { $_->[0] } @some or die "$name: nm: $!\n";
		while (<$nm>) {
			my ($o, $type, $n) = /^(.*?):[0-9a-f ]* (\S) (\S+)/ or next;
			my $s = $sym{ $of{$o} };
			if ($type eq 'U') { push @{ $s->{use} }, $n }
			elsif ($type =~ /^[TDBRVWC]$/) { push @{ $s->{def} }, $n }
		}
		close $nm;
	}
	return \%sym;
}

# circles(\%graph): the strongly connected components of more than one node, each an array
# (Tarjan's); the graph: { from => { to => ... } }
sub circles {
	my ($graph) = @_;
	my ($n, @stack, %index, %low, %on, @found) = (0);
	my $visit;
	no warnings 'recursion';
	$visit = sub {
		my ($x) = @_;
		$index{$x} = $low{$x} = $n++;
		push @stack, $x;
		$on{$x} = 1;
		for my $y (sort keys %{ $graph->{$x} // {} }) {
			if (!defined $index{$y}) {
				$visit->($y);
				$low{$x} = $low{$y} if $low{$y} < $low{$x};
			} elsif ($on{$y} && $index{$y} < $low{$x}) {
				$low{$x} = $index{$y};
			}
		}
		return unless $low{$x} == $index{$x};
		my @c;
		while (1) {
			my $y = pop @stack;
			$on{$y} = 0;
			push @c, $y;
			last if $y eq $x;
		}
		push @found, [sort @c] if @c > 1;
	};
	for (sort keys %$graph) { $visit->($_) unless defined $index{$_} }
	return @found;
}

1;
