// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of the name space, byte by byte: a change of these is a change of the format of the
 * records and needs another version.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/value.h"
#include "iop/ns/record.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/lib/ut_hex.h"

#define INODE(m) INODE_WITH(m, 0x41424344)
#define INODE_WITH(m, f)                                                                         \
	.ino = 0x0102030405060708, .mode = (m), .nlink = 0x11121314, .uid = 0x21222324,          \
	.gid = 0x31323334, .flags = (f), .rdev = 0x5152535455565758, .size = 0x0162636465666768, \
	.alloc = 0x7172737475767778, .alloc_change = 0x8182838485868788,                         \
	.change = 0x9192939495969798, .atime = { 0x0a, 0x1a }, .mtime = { 0x0b, 0x1b },          \
	.ctime = { 0x0c, 0x1c }, .btime = { -1, 999999999 }

/* The bytes of these from nlink to btime. */
#define INODE_HEX INODE_HEX_WITH("44434241")
#define INODE_HEX_WITH(flags)                                                           \
	"14131211 24232221 34333231 " flags " 5857565554535251 6867666564636201 "       \
	"7877767574737271 8887868584838281 9897969594939291 0a00000000000000 1a000000 " \
	"0b00000000000000 1b000000 0c00000000000000 1c000000 ffffffffffffffff ffc99a3b "

/* What a file has at its end that nobody has written by a lease or in an epoch. */
#define NO_WRITERS "0000000000000000 0000000000000000 0000000000000000 00000000 "

static uint32_t disks[] = { 7, 3, 0x01020304 };

/* Each ends with the CRC of key and value. */
static const struct {
	const char *what;
	struct inode inode;
	const char *hex;
} inodes[] = {
	{ "file on disks in order",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL } },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 " NO_WRITERS
	  "bab34796" },
	{ "file on disks by name",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 1, 3, disks } },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 01000000 03000000 "
	  "07000000 03000000 04030201 " NO_WRITERS "2297f9a2" },
	{ "file with a writer",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL },
	    .writer = 0xe1e2e3e4e5e6e7e8 },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 "
	  "0000000000000000 e8e7e6e5e4e3e2e1 0000000000000000 00000000 851e5341" },
	{ "snapshot",
	  { INODE_WITH(0100440, 0x41424346), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL } },
	  "07000000 20810000 " INODE_HEX_WITH(
		  "46434241") "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 " NO_WRITERS
			      "2ab49c85" },
	{ "file with an epoch and a writer",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL },
	    .epoch = 0xf1f2f3f4f5f6f7f8, .writer = 0xe1e2e3e4e5e6e7e8 },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 "
	  "f8f7f6f5f4f3f2f1 e8e7e6e5e4e3e2e1 0000000000000000 00000000 ef75a438" },
	{ "file of which something was told",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL },
	    .writer = 0xe1e2e3e4e5e6e7e8, .told = 0x0102030405060708 },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 "
	  "0000000000000000 e8e7e6e5e4e3e2e1 0807060504030201 00000000 bd4d09c5" },
	{ "file that has had two writers",
	  { INODE(0100640), .stripe = { 0xa1a2a3a4a5a6a7a8, 8192, 2, 16, NULL },
	    .epoch = 0xf1f2f3f4f5f6f7f8, .past = { { 1, 2 }, { 3, 4 } } },
	  "07000000 a0810000 " INODE_HEX "a8a7a6a5a4a3a2a1 00200000 02000000 10000080 "
	  "f8f7f6f5f4f3f2f1 0000000000000000 0000000000000000 02000000 "
	  "0100000000000000 0200000000000000 0300000000000000 0400000000000000 f0041cad" },
	{ "directory",
	  { INODE(0041777), .stripe = { 0, 0, 0, 0, NULL }, .parent = 0xb1b2b3b4b5b6b7b8,
	    .entries = 0xc1c2c3c4c5c6c7c8, .cookie = 0xd1d2d3d4d5d6d7d8 },
	  "07000000 ff430000 " INODE_HEX "0000000000000000 00000000 00000000 00000080 "
	  "b8b7b6b5b4b3b2b1 c8c7c6c5c4c3c2c1 d8d7d6d5d4d3d2d1 d3575d02" },
	{ "symbolic link",
	  { INODE(0120777), .target = "../there" },
	  "07000000 ffa10000 " INODE_HEX "0800 2e2e2f7468657265 c0b3ca88" },
	{ "device", { INODE(0020600) }, "07000000 80210000 " INODE_HEX "f98caec0" },
};

static void test_inodes(void)
{
	uint8_t buf[512], again[512];
	struct inode got;
	ssize_t len;
	size_t i;

	for (i = 0; i < sizeof(inodes) / sizeof(inodes[0]); i++) {
		len = ns_inode_put(buf, sizeof(buf), &inodes[i].inode);
		CU_ASSERT_FATAL(len > 0);
		ut_hex_same(inodes[i].what, buf, (size_t)len, inodes[i].hex);
		CU_ASSERT_EQUAL(ns_inode_put(NULL, 0, &inodes[i].inode), len);
		CU_ASSERT_EQUAL(ns_inode_put(again, (size_t)len - 1, &inodes[i].inode), -EMSGSIZE);
		CU_ASSERT_EQUAL_FATAL(ns_inode_get(inodes[i].inode.ino, buf, (size_t)len, &got), 0);
		CU_ASSERT_EQUAL(got.ino, inodes[i].inode.ino);
		CU_ASSERT_EQUAL(ns_inode_put(again, sizeof(again), &got), len);
		CU_ASSERT_EQUAL(memcmp(again, buf, (size_t)len), 0);
		inode_free(&got);
	}
}

/* An inode is refused whole: cut off anywhere, any bit changed, the key of another. */
static void test_inodes_refused(void)
{
	uint8_t buf[512];
	struct inode got;
	size_t i, k, len;

	for (i = 0; i < sizeof(inodes) / sizeof(inodes[0]); i++) {
		len = (size_t)ns_inode_put(buf, sizeof(buf), &inodes[i].inode);
		for (k = 0; k < len; k++)
			CU_ASSERT_EQUAL(ns_inode_get(inodes[i].inode.ino, buf, k, &got), -EUCLEAN);
		for (k = 0; k < 8 * len; k++) {
			buf[k / 8] ^= 1u << k % 8;
			CU_ASSERT_EQUAL(ns_inode_get(inodes[i].inode.ino, buf, len, &got),
					-EUCLEAN);
			buf[k / 8] ^= 1u << k % 8;
		}
		CU_ASSERT_EQUAL(ns_inode_get(inodes[i].inode.ino + 1, buf, len, &got), -EUCLEAN);
		CU_ASSERT_EQUAL(ns_inode_get(0, buf, len, &got), -EUCLEAN);
	}
}

static const struct ns_entry entry = {
	.ino = 0x0102030405060708, .type = 0100000, .cookie = 0x1112131415161718, .name = "name"
};

static void test_entry(void)
{
	uint8_t key[NS_NAME_KEY_MAX], order[NS_ORDER_KEY_LEN], value[NS_ENTRY_MAX];
	size_t key_len = ns_name_key(key, 0x2122232425262728, "name"), len;
	struct ns_entry got;

	ut_hex_same("key by name", key, key_len, "2122232425262728 6e616d65");
	len = ns_entry_put(value, key, key_len, &entry, false);
	ut_hex_same("entry by name", value, len,
		    "07000000 0807060504030201 00800000 1817161514131211 64f316a0");
	CU_ASSERT_EQUAL(ns_entry_get(key, key_len, value, len, false, &got), 0);
	CU_ASSERT_EQUAL(got.ino, entry.ino);
	CU_ASSERT_EQUAL(got.type, entry.type);
	CU_ASSERT_EQUAL(got.cookie, entry.cookie);

	ns_order_key(order, 0x2122232425262728, entry.cookie);
	ut_hex_same("key by cookie", order, sizeof(order), "2122232425262728 1112131415161718");
	len = ns_entry_put(value, order, sizeof(order), &entry, true);
	ut_hex_same("entry by cookie", value, len,
		    "07000000 0807060504030201 00800000 1817161514131211 0400 6e616d65 f18cd35e");
	CU_ASSERT_EQUAL(ns_entry_get(order, sizeof(order), value, len, true, &got), 0);
	CU_ASSERT_STRING_EQUAL(got.name, "name");
	CU_ASSERT_EQUAL(ns_entry_get(order, sizeof(order), value, len, false, &got), -EUCLEAN);
}

static void test_bytes(void)
{
	uint8_t key[NS_NAME_KEY_MAX], value[5 + NS_BYTES_EXTRA];
	size_t key_len = ns_name_key(key, 16, "user.a"), len;
	const uint8_t *data;

	ns_bytes_put(value, key, key_len, "value", 5);
	ut_hex_same("bytes", value, sizeof(value), "07000000 76616c7565 1660cae5");
	CU_ASSERT_EQUAL(ns_bytes_get(key, key_len, value, sizeof(value), &data, &len), 0);
	CU_ASSERT_EQUAL(len, 5);
	CU_ASSERT_PTR_EQUAL(data, value + 4);
	value[5] ^= 1;
	CU_ASSERT_EQUAL(ns_bytes_get(key, key_len, value, sizeof(value), &data, &len), -EUCLEAN);
}

static void test_result(void)
{
	static const uint8_t mount[DDIO_GROUP_ID_LEN] = { 0xa0, 0xa1, 0xa2, 0xa3 };
	uint8_t key[NS_DONE_KEY_LEN], value[NS_RESULT_LEN];
	uint64_t result;

	ns_done_key(key, mount, 0x3132333435363738);
	ut_hex_same("key of a result", key, sizeof(key),
		    "a0a1a2a3000000000000000000000000 3132333435363738");
	ns_result_put(value, key, sizeof(key), 0x4142434445464748);
	ut_hex_same("result", value, sizeof(value),
		    "07000000 4947464544434241 00800000 0000000000000000 c812545b");
	CU_ASSERT_EQUAL(ns_result_get(key, sizeof(key), value, sizeof(value), &result), 0);
	CU_ASSERT_EQUAL(result, 0x4142434445464748);
	CU_ASSERT_EQUAL(ns_result_get(key, sizeof(key), value, sizeof(value) - 1, &result),
			-EUCLEAN);
}

static void test_meta(void)
{
	static const struct ns_meta meta = { .limit = 0x5152535455565758, .cluster = "cluster" };
	uint8_t value[NS_META_MAX];
	size_t len = ns_meta_put(value, &meta);
	struct ddio_coder c;
	struct ns_meta got;

	ut_hex_same("meta", value, len, "07000000 5857565554535251 0700 636c7573746572 f9e8bfc5");
	CU_ASSERT_EQUAL(ns_meta_get(value, len, &got), 0);
	CU_ASSERT_EQUAL(got.limit, meta.limit);
	CU_ASSERT_STRING_EQUAL(got.cluster, "cluster");
	CU_ASSERT_EQUAL(ns_meta_get(value, len - 1, &got), -EUCLEAN);
	value[0]--;
	CU_ASSERT_EQUAL(ns_meta_get(value, len, &got), -EUCLEAN);
	c = coder_writing(value, sizeof(value));
	c.w.len = len - VALUE_CRC_LEN;
	value_close(&c, NS_META_KEY, strlen(NS_META_KEY));
	CU_ASSERT_EQUAL(ns_meta_get(value, len, &got), -EPROTONOSUPPORT);
}

static const struct ut_case cases[] = {
	{ "inodes", test_inodes },
	{ "inodes: what is refused", test_inodes_refused },
	{ "entries", test_entry },
	{ "values of attributes", test_bytes },
	{ "results", test_result },
	{ "meta", test_meta },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "records of the name space", cases } };

	return ut_run("ns_record", suites, sizeof(suites) / sizeof(suites[0]));
}
