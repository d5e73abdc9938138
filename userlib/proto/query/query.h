/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about the records of a file, see proto.h and Documentation/query.rst. */
#ifndef DDIO_PROTO_QUERY_H
#define DDIO_PROTO_QUERY_H

#include <ddio/query.h>
#include "proto/proto.h"

#define DDIO_QUERY_VERSION 1u	     /* of a question */
#define DDIO_QUERY_BLOCKS_MAX 4096u  /* that one request asks about */
#define DDIO_QUERY_ROOM (256u << 10) /* most bytes of items of an answer */
#define DDIO_QUERY_NO_PART UINT32_MAX

#define DDIO_QUERY_ITEM_MAX 512u /* records of an item */

#define DDIO_QUERY_COUNTS 0x1u	   /* no record is returned, only what is made of all */
#define DDIO_QUERY_UNNUMBERED 0x2u /* of records fields are returned, and no numbers */
#define DDIO_QUERY_DEALT 0x4u	   /* they are dealt out to the members of a group */

/**
 * struct ddio_msg_query - OBJ_QUERY
 * @obj: the object; offset and len are the window, in whole blocks
 * @flags: DDIO_QUERY_COUNTS and so on
 * @stripe, @ndisks: the object's place in the file's stripe
 * @first, @end: records that are asked about
 * @part: a block of the window of which the records before @part_next have been looked at; or DDIO_QUERY_NO_PART
 * @nblocks: of the window; @want: a bit for each: it is asked about; in the payload
 * @q: the question; what it names is allocated: ddio_msg_query_free()
 * @group, @number: DDIO_QUERY_DEALT: which group's, and its turn; @members, @member: how many ask, and which of them does
 * @deal: who gets what
 */
struct ddio_msg_query {
	struct ddio_msg_obj obj;
	uint32_t flags;
	uint32_t stripe, ndisks;
	uint32_t part;
	uint64_t part_next;
	uint64_t first, end;
	uint32_t nblocks;
	const void *want;
	struct ddio_query q;
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t number;
	uint32_t members, member;
	struct ddio_query_deal deal;
};

/* The bytes at the end of a request that tell the member: all others are the same of all members. */
#define DDIO_QUERY_MEMBER_LEN 4u

void ddio_msg_query_free(struct ddio_msg_query *x);

/**
 * struct ddio_msg_answer - the reply
 * @part, @part_next: as in the request: what is to be asked next
 * @disk_reqs: disk requests that it took
 * @nblocks, @did: a bit for each block that is done
 * @made, @made_len: what was made of the records that match
 * @items, @items_len: these, and fragments; see query.rst
 */
struct ddio_msg_answer {
	uint32_t part;
	uint32_t disk_reqs;
	uint64_t part_next;
	uint32_t nblocks;
	const void *did;
	uint32_t made_len, items_len;
	const void *made, *items;
};

DDIO_PROTO_CODEC(query, ddio_msg_query);
DDIO_PROTO_CODEC(answer, ddio_msg_answer);

#endif /* DDIO_PROTO_QUERY_H */
