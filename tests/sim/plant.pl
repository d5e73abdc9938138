#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Bugs that the simulated faults must find: plant.pl prints their names; plant.pl NAME prints the source that the bug
# is planted in; plant.pl --option NAME prints the option with which seeds find it, if they need one; plant.pl NAME FILE
# writes that source, with the bug, to FILE.  A bug is one change within one
# function; if that no longer has the text to be changed, once, the bug is to be planted anew.
use strict;
use warnings;

# name => [ source, function, text, other text, option ]
my $iop = 'userlib/iop';
my %bug = (
	# The records were not written, and the sync succeeds.
	commit => ["$iop/lmdb/committer.c", 'commit_worked', 'commit_end(c, err)', 'commit_end(c, 0)'],
	# The disk has lost what it was to flush, and the sync succeeds.
	flush => ["$iop/lmdb/committer.c", 'commit_flushed', 'struct committer *c = req->arg;',
		'struct committer *c = req->arg; req->status = 0;'],
	# A block that could not be read is served.
	read => ["$iop/cache/disk.c", 'entry_read_end', 'if (!status)', 'if (e)'],
	# A dirty block that could not be written is clean.
	writeback => ["$iop/cache/disk.c", 'entry_write_end', 'if (status)', 'if (!e)'],
	# A sync is acknowledged when its commit begins.
	ack => ["$iop/ops/object_sync.c", 'sync_commit', 'store_commit(part->disk->store, &part->commit);',
		'store_commit(part->disk->store, NULL); sync_one_less(part->req);'],
	# The journals of the name space are not flushed, and whoever waits for that is told that they were.
	journal => ["$iop/kv/flush.c", 'flush_work', 'kv_journal_flush(&kv->journal, kv->env, kv->flush.which)', '0'],
	# Blocks that were cut off are given to others before the commit that frees them.
	free => ["$iop/store/range.c", 'note_freed', 'batch_freed(&obj->store->open,', 'store_give_back(obj->store,'],
	# A collective's block that could not be read is sent.
	coll_read => ["$iop/coll/slot/read.c", 'read_moved', 'if (slot->req.status)', 'if (!slot)'],
	# A collective's block that could not be written was.
	coll_write => ["$iop/coll/slot/write.c", 'write_moved', 'struct coll_disk *cd = slot->disk;',
		'struct coll_disk *cd = slot->disk; if (slot->req.op == DDIO_DISK_WRITE) slot->req.status = 0;'],
	# The old bytes of a block that a collective writes in part could not be read.
	coll_merge => ["$iop/coll/slot/write.c", 'write_moved', 'struct coll_disk *cd = slot->disk;',
		'struct coll_disk *cd = slot->disk; if (slot->req.op == DDIO_DISK_READ) slot->req.status = 0;'],
	# The old bytes of a block in the cache that was written in part could not be read.
	fill => ["$iop/cache/disk.c", 'entry_fill_end', 'cache_mem_raw_free(c, c->fill_buf, e->size);',
		'if (status) { cache_mask_merge(e, c->fill_buf); e->err = 0; } cache_mem_raw_free(c, c->fill_buf, e->size);'],
	# The name space has forgotten that an atomic write was committed.
	decision => ["$iop/ops/fs_epoch.c", 'serve_ns_decided', 'if (!err && inode.epoch == x.epoch)', 'if (err)', '--atomic'],
	# Of an epoch of several files it has forgotten the last one.
	decisions => ["$iop/ns/attr.c", 'ns_commit_epochs', 'i < x->n && !ret', 'i < x->n - (x->n > 1) && !ret', '--epochs'],
	# A disk that had to ask drops what was committed.
	asked => ["$iop/epoch/ask.c", 'answered', 'flags & DDIO_EPOCH_COMMITTED, NULL', 'flags & DDIO_EPOCH_OPEN, NULL', '--epochs'],
	# A clone does not wait until the cache has written back what it has of the file.
	clone => ["$iop/ops/clone/hold.c", 'hold_go_on', 'cache_flush(h->disk->cache, &h->flush);', 'hold_ready(h);'],
	# The records are written before the disk is flushed.
	order => ["$iop/lmdb/committer.c", 'commit_begin', '} else if (commit_flushes(c)) {', '} else if (commit_flushes(c) && !c->any) {'],
	# A block that a clone has, too, is written in its place.
	shared => ["$iop/store/share.c", 'object_target', 'there = !shares_at(&obj->store->shares, *start, &len);', 'there = true;'],
	# A snapshot is frozen only once its node has been started again.
	frozen => ["$iop/store/note.c", 'object_freeze', 'obj->recorded = obj->frozen = true;', 'obj->recorded = true;'],
	# What is cut off within a block comes back when the file grows.
	edge => ["$iop/ops/object_cut.c", 'truncate_edge',
		'obj_zero(req, size, block_behind(req, size) * req->obj.file.block, truncate_rest);', '(void)size; truncate_rest(req);'],
	# A collective read does not ask the cache for what is newer than the disk's.
	dirty => ["$iop/coll/slot/read.c", 'read_locked', 'if (slot->lock.dirty) {', 'if (slot->lock.dirty && !slot) {'],
	# The cache keeps a block that a collective has written over.
	stale => ["$iop/coll/slot/write.c", 'write_moved', 'slot_drop(slot, true);', 'slot_drop(slot, false);'],
	# When a collective's write has failed, the cache drops what it has that is newer than the disk's.
	newer => ["$iop/coll/slot/write.c", 'write_moved', 'writing && !slot->lock.newer', 'writing'],
	# Bytes of a block that was written in part are not taken from the disk, if their neighbours were written.
	merge => ["$iop/cache/mask.c", 'cache_mask_merge', 'if (~e->mask[w])', 'if (!e->mask[w])'],
	# Of a block that was never written, only what has changed is.
	part => ["$iop/cache/disk.c", 'entry_write_at', 'if (!written || ', 'if ((!written && !c) || '],
	# A lock for writing is in nobody's way.
	lock => ["$iop/lock/held.c", 'lock_conflict_lowest', 'writing = conflict_in(locks, file, want, true);', 'writing = NULL;', '--mounts'],
	# An exchange of names gives only one of them.
	exchange => ["$iop/ns/rename.c", 'exchange', 'int ret = ns_enter(ns, r->to, r->x->new_name, &there);', 'int ret = 0; (void)there;', '--mounts'],
	# One record in seven of the name space's journals is passed over after a loss of power.
	replay => ["$iop/kv/journal.c", 'replay_all', 'ret = replay_record(&rd[i], map);', 'ret = *seq % 7 ? replay_record(&rd[i], map) : 0;', '--mounts'],
	# Some bytes of a stream go out on another one, if there is one.
	mixed => ['userlib/mux/out.c', 'gather', 'id = s->id;', 'id = len == 512 && s->id > 1 ? s->id - 1 : s->id;', '--brokers'],
	# A broker that hands on a stream forgets to end it.
	unended => ['userlib/mux/relay.c', 'relay_end', 'ddio_mux_end(from->other->stream, err);', 'ddio_stream_detach(from->other->stream);', '--brokers'],
	# The connection of a broker to one reactor is taken for that to another of the node.
	reactor => ['userlib/cp/broker/carrier.c', 'carrier_get', ' && c->reactor == reactor', '', '--brokers'],
);

my ($name, $out) = @ARGV;
if (!defined $name) {
	print "$_\n" for sort keys %bug;
	exit 0;
}
my $option = $name eq '--option';
$name = $out if $option;
my ($file, $function, $from, $to, $seeds) = @{ $bug{ $name // '' } or die "plant.pl: there is no bug $name\n" };
if ($option) {
	print "$seeds\n" if $seeds;
	exit 0;
}
if (!defined $out) {
	print "$file\n";
	exit 0;
}
local $/;
open my $in, '<', $file or die "plant.pl: $file: $!\n";
my $text = <$in>;
# A function ends with a brace in the first column.
$text =~ /^(.*^[a-z][^\n;]*\b$function\([^;{]*\)\n\{\n)(.*?)(^\}.*)$/ms
	or die "plant.pl: $file has no function $function\n";
my ($before, $body, $after) = ($1, $2, $3);
my $found = () = $body =~ /\Q$from\E/g;
die "plant.pl: $function in $file has '$from' $found times\n" if $found != 1;
$body =~ s/\Q$from\E/$to/;
open my $o, '>', $out or die "plant.pl: $out: $!\n";
print $o "#line 1 \"$file\"\n", $before, $body, $after;
close $o or die "plant.pl: $out: $!\n";
