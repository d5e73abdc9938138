// SPDX-License-Identifier: GPL-2.0-only
/*
 * A security module in a few instructions of BPF: it refuses what reads or writes one device.
 *
 * The program hangs on the hook file_permission(file, mask).  Where the members of the kernel's
 * structures are that it looks at, and the hook's number, the kernel's own description of its types
 * tells (BTF).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/kt.h"

#define KT_BTF "/sys/kernel/btf/vmlinux"
#define KT_HOOK "bpf_lsm_file_permission"

/**
 * struct kt_btf - the kernel's types
 * @data: the file
 * @type, @end: the descriptions
 * @text: the names
 */
struct kt_btf {
	char *data;
	const char *type;
	const char *end;
	const char *text;
};

static int kt_btf_read(struct kt_btf *btf)
{
	const struct btf_header *head;
	int fd = open(KT_BTF, O_RDONLY | O_CLOEXEC), err = -EIO;
	size_t length = 0;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	btf->data = fstat(fd, &st) ? NULL : malloc(st.st_size);
	for (; btf->data && n > 0 && length < (size_t)st.st_size; length += n)
		n = read(fd, btf->data + length, st.st_size - length);
	close(fd);
	head = (const struct btf_header *)btf->data;
	if (head && n > 0 && length > sizeof(*head) && head->magic == BTF_MAGIC) {
		btf->type = btf->data + head->hdr_len + head->type_off;
		btf->end = btf->type + head->type_len;
		btf->text = btf->data + head->hdr_len + head->str_off;
		err = 0;
	}
	return err;
}

/* Returns how many bytes follow a description, or -1 if its kind is too new. */
static int kt_btf_more(const struct btf_type *type)
{
	static const signed char each[] = {
		[BTF_KIND_STRUCT] = 12,	   [BTF_KIND_UNION] = 12,   [BTF_KIND_ENUM] = 8,
		[BTF_KIND_FUNC_PROTO] = 8, [BTF_KIND_DATASEC] = 12, [BTF_KIND_ENUM64] = 12,
	};
	static const signed char once[] = {
		[BTF_KIND_INT] = 4,	 [BTF_KIND_ARRAY] = 12, [BTF_KIND_VAR] = 4,
		[BTF_KIND_DECL_TAG] = 4, [BTF_KIND_ENUM64] = 0,
	};
	unsigned int kind = BTF_INFO_KIND(type->info);

	if (kind > BTF_KIND_ENUM64)
		return -1;
	return once[kind] + each[kind] * BTF_INFO_VLEN(type->info);
}

/* Finds a type by kind and name.  Returns its number, or 0. */
static unsigned int kt_btf_find(const struct kt_btf *btf, unsigned int kind, const char *name,
				const struct btf_type **found)
{
	const char *at = btf->type;
	unsigned int id;
	int more;

	for (id = 1; at < btf->end; id++) {
		*found = (const struct btf_type *)at;
		if (BTF_INFO_KIND((*found)->info) == kind &&
		    !strcmp(btf->text + (*found)->name_off, name))
			return id;
		more = kt_btf_more(*found);
		if (more < 0)
			return 0;
		at += sizeof(**found) + more;
	}
	return 0;
}

/* Returns where in a structure a member begins, in bytes, or -1. */
static int kt_btf_member(const struct kt_btf *btf, const char *name, const char *member)
{
	const struct btf_type *type;
	const struct btf_member *m;
	unsigned int i;

	if (!kt_btf_find(btf, BTF_KIND_STRUCT, name, &type))
		return -1;
	m = (const struct btf_member *)(type + 1);
	for (i = 0; i < BTF_INFO_VLEN(type->info); i++, m++)
		if (!strcmp(btf->text + m->name_off, member))
			return BTF_MEMBER_BIT_OFFSET(m->offset) / 8;
	return -1;
}

static int kt_bpf(int cmd, union bpf_attr *attr)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

#define INSN(op, to, from, where, value)                                                         \
	{                                                                                        \
		.code = (op), .dst_reg = (to), .src_reg = (from), .off = (where), .imm = (value) \
	}
#define LOAD(size, to, from, where) INSN(BPF_LDX | BPF_MEM | (size), to, from, where, 0)

/* Attaches: if (file->f_inode->i_rdev == dev && mask & @mask) return -EPERM; return 0. */
static int kt_lsm_attach(unsigned int hook, int inode_at, int rdev_at, unsigned int dev,
			 unsigned int mask)
{
	const struct bpf_insn insn[] = {
		LOAD(BPF_DW, BPF_REG_2, BPF_REG_1, 0),
		LOAD(BPF_DW, BPF_REG_3, BPF_REG_1, 8),
		LOAD(BPF_DW, BPF_REG_2, BPF_REG_2, inode_at),
		LOAD(BPF_W, BPF_REG_2, BPF_REG_2, rdev_at),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, 3, (int)dev),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, (int)mask),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_3, 0, 1, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, -EPERM),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_LSM,
		.expected_attach_type = BPF_LSM_MAC,
		.insns = kt_ptr(insn),
		.insn_cnt = KT_ARRAY_SIZE(insn),
		.license = kt_ptr("GPL"),
		.attach_btf_id = hook,
	};
	union bpf_attr open;
	int fd = kt_bpf(BPF_PROG_LOAD, &load), link;

	if (fd < 0)
		return fd;
	memset(&open, 0, sizeof(open));
	open.raw_tracepoint.prog_fd = fd;
	link = kt_bpf(BPF_RAW_TRACEPOINT_OPEN, &open);
	close(fd);
	return link;
}

int kt_lsm_refuse(const struct kt_dev *dev, unsigned int mask)
{
	const struct btf_type *type;
	struct kt_btf btf = { 0 };
	int err, inode_at, rdev_at;
	unsigned int hook;
	struct stat st;

	if (stat(dev->path, &st))
		return -errno;
	err = kt_btf_read(&btf);
	if (!err) {
		hook = kt_btf_find(&btf, BTF_KIND_FUNC, KT_HOOK, &type);
		inode_at = kt_btf_member(&btf, "file", "f_inode");
		rdev_at = kt_btf_member(&btf, "inode", "i_rdev");
		err = -EOPNOTSUPP;
		if (hook && inode_at >= 0 && rdev_at >= 0)
			err = kt_lsm_attach(hook, inode_at, rdev_at,
					    major(st.st_rdev) << 20 | minor(st.st_rdev), mask);
	}
	free(btf.data);
	return err;
}
