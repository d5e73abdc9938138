#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick include userlib/libddio.map
#
# The public headers document all that they declare: each function, and each struct, enum and type with
# members or parameters, stands right below a kernel-doc comment of its name; that of a function which returns
# something says what ("Return:").  The kernel's own script, where it is, reads them without a warning, so
# that every parameter and member is described.  Every name of libddio.map is declared, and no other.
use strict;
use warnings;
use File::Basename;
use File::Temp 'tempdir';
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my @headers = files(qr{^include/ddio/.*\.h$});
my %exported = map { $_ => 1 } slurp('userlib/libddio.map') =~ /\b(ddio_\w+);/g;

# What is wrong with the comment above the declaration of $name, if there is a comment.
sub comment_wrong {
	my ($comment, $name, $returns) = @_;
	return 'has no kernel-doc comment' unless defined $comment;
	my ($of) = $comment =~ m{^/\*\*\n \* (?:struct |enum |union |typedef )?(\w+)(?:\(\))? - \S};
	return 'its comment does not begin with its name and " - "' unless defined $of;
	return "its comment is of $of" unless $of eq $name;
	return 'its comment does not say what it returns' if $returns && $comment !~ /^ \* Return:/m;
	return;
}

my %declared;
my $comment = qr{(/\*\*?\n(?:[ \t]+\*[^\n]*\n)*?[ \t]+\*/\n)?};
for my $h (@headers) {
	my $text = slurp($h);
	# Functions: from the start of a line to ");", or a body.
	while ($text =~ /^$comment((?!typedef|return)(?:\w+[ \t]+(?:\w+[ \t]+)*\**))(\w+)\(([^;{]*)\)\s*[;{]/gm) {
		my ($doc, $type, $name) = ($1, $2, $3);
		$declared{$name} = $h unless $type =~ /\bstatic\b/;
		check("$h: $name()", comment_wrong($doc, $name, $type !~ /\bvoid\s+$/));
	}
	while ($text =~ /^${comment}typedef\s+(\w[\w\s*]*?)\s*\(?\*?(\w+)\)?\(/gm) {
		my ($doc, $type, $name) = ($1, $2, $3);
		check("$h: $name", comment_wrong($doc, $name, $type ne 'void'));
	}
	while ($text =~ /^$comment(?:struct|enum|union)\s+(\w+)\s*\{/gm) {
		check("$h: $2", comment_wrong($1, $2, 0));
	}
}
check("libddio.map: $_", $declared{$_} ? () : 'no public header declares it') for sort keys %exported;
check("$declared{$_}: $_()", $exported{$_} ? () : 'is not in libddio.map') for sort keys %declared;

my ($script) = reverse sort glob('/usr/lib/linux-kbuild-*/scripts/kernel-doc');
if ($script) {
	my $copies = tempdir(CLEANUP => 1);
	for my $h (@headers) {
		open(my $copy, '>', "$copies/" . basename($h)) or die "$h: $!";
		print $copy slurp($h) =~ s/__extension__ //gr; # which the script takes for a member
		close($copy) or die "$h: $!";
	}
	my $said = `$script -none -Werror $copies/*.h 2>&1`;
	check("kernel-doc", $? ? $said =~ s/\s+$//r : ());
} else {
	skip('no kernel-doc here (Debian package linux-kbuild)');
}
finish();
