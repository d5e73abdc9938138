// SPDX-License-Identifier: GPL-2.0-only
/* The opening exchange, as the connector sees it, and key files. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/conn/conn_peer.h"

/* Makes the CHALLENGE that answers the connector's HELLO. */
static void add_challenge(struct peer_seen *s, struct script *t, const struct ddio_key *key,
			  const char *label, uint16_t version, uint32_t features)
{
	struct ddio_msg_challenge c = { .version = version,
					.keyed = key != NULL,
					.features = features };
	const uint8_t *hello;
	uint8_t raw[128];
	size_t len = 0;
	ssize_t n;

	hello = said(s, DDIO_OP_HELLO, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(hello);
	memset(c.nonce, 0xcd, sizeof(c.nonce));
	n = ddio_put_challenge(raw, sizeof(raw), &c);
	if (key)
		proof_of(key, label, raw, hello, len, raw + CHALLENGE_SIGNED);
	heard(s);
	t->len = 0;
	add(t, DDIO_OP_CHALLENGE, raw, n);
}

static void test_connect(void)
{
	struct script t = { .len = 0 };
	uint8_t raw[1024];
	struct peer_seen s;
	size_t len;

	begin_connect(&s, &right_key, false);
	add_challenge(&s, &t, &right_key, "ddio acceptor  1", DDIO_WIRE_VERSION, 0);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_PTR_NOT_NULL(said(&s, DDIO_OP_PROOF, &len));
	CU_ASSERT_EQUAL(s.readies, 0);
	t.len = 0;
	add(&t, DDIO_OP_WELCOME, raw, ddio_put_welcome(raw, sizeof(raw), &welcome_msg));
	add(&t, DDIO_OP_PING, NULL, 0);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.readies, 1);
	CU_ASSERT_EQUAL(s.node, 5);
	CU_ASSERT_EQUAL(s.messages, 1);
	finish(&s);
}

static void test_connect_forged(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_connect(&s, &right_key, true);
	add_challenge(&s, &t, &wrong_key, "ddio acceptor  1", DDIO_WIRE_VERSION, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "node's proof is wrong");
	finish(&s);
	/* with the other side's label, as if taken from another connector */
	begin_connect(&s, &right_key, true);
	add_challenge(&s, &t, &right_key, "ddio connector 1", DDIO_WIRE_VERSION, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "node's proof is wrong");
	finish(&s);
}

static void test_connect_one_sided(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_connect(&s, &right_key, true);
	add_challenge(&s, &t, NULL, "", DDIO_WIRE_VERSION, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "the node has none");
	finish(&s);
	begin_connect(&s, NULL, true);
	add_challenge(&s, &t, &right_key, "ddio acceptor  1", DDIO_WIRE_VERSION, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_AUTH, "the connector has none");
	finish(&s);
	begin_connect(&s, NULL, false);
	check_refused(&s, DDIO_ST_AUTH, "no key is configured here");
	finish(&s);
}

static void test_connect_not_offered(void)
{
	struct script t = { .len = 0 };
	struct peer_seen s;

	begin_connect(&s, &right_key, true);
	add_challenge(&s, &t, &right_key, "ddio acceptor  1", DDIO_WIRE_VERSION + 1, 0);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_VERSION, "version 3");
	finish(&s);
	begin_connect(&s, &right_key, true);
	add_challenge(&s, &t, &right_key, "ddio acceptor  1", DDIO_WIRE_VERSION, 1u << 31);
	mem_feed(&s.m, t.bytes, t.len);
	check_refused(&s, DDIO_ST_VERSION, "not offered");
	finish(&s);
}

static void test_connect_refused(void)
{
	struct ddio_msg_refuse refuse = { .status = DDIO_ST_BUSY, .text = "come\r\nback" };
	struct script t = { .len = 0 };
	uint8_t raw[1024];
	struct peer_seen s;

	add(&t, DDIO_OP_REFUSE, raw, ddio_put_refuse(raw, sizeof(raw), &refuse));
	begin_connect(&s, &right_key, true);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(s.why, "come??back"));
	CU_ASSERT_PTR_NOT_NULL(strstr(s.why, "node:1"));
	finish(&s);
	/* a status of a later version */
	refuse.status = 12345;
	t.len = 0;
	add(&t, DDIO_OP_REFUSE, raw, ddio_put_refuse(raw, sizeof(raw), &refuse));
	begin_connect(&s, &right_key, true);
	mem_feed(&s.m, t.bytes, t.len);
	CU_ASSERT_EQUAL(s.err, -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(s.why, "come??back"));
	finish(&s);
}

/* A node of the first release refuses a version that it does not speak, in words that do not say what to do. */
static void test_connect_first(void)
{
	static const struct ddio_msg_refuse refuse = {
		.status = DDIO_ST_VERSION,
		.text = "the connector speaks versions 2 to 2 of the protocol, the node 1 to 1",
	};
	uint8_t bytes[1024];
	struct ddio_msg msg = { .version = 1, .opcode = DDIO_OP_REFUSE };
	struct peer_seen s;

	msg.length = (uint64_t)ddio_put_refuse(bytes + DDIO_WIRE_HEADER_LEN,
					       sizeof(bytes) - DDIO_WIRE_HEADER_LEN, &refuse);
	ddio_put_header(bytes, &msg);
	begin_connect(&s, &right_key, true);
	mem_feed(&s.m, bytes, DDIO_WIRE_HEADER_LEN + msg.length);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -EPROTONOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(
		s.why,
		"the node speaks version 1 of the protocol, the connector version 2: upgrade the node"));
	finish(&s);
}

static void test_connect_timeout(void)
{
	struct peer_seen s;

	begin_connect(&s, &right_key, true);
	mem_pass(&s.m, 11 * SECOND);
	CU_ASSERT_EQUAL(s.closes, 1);
	CU_ASSERT_EQUAL(s.err, -ETIMEDOUT);
	finish(&s);
}

/*
 * Key files
 */
static int load_as(bool shared, const char *content, size_t len, mode_t mode, struct ddio_key *key,
		   char *err)
{
	char path[] = "/tmp/ddio-key-XXXXXX";
	int fd = mkstemp(path), ret;

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(write(fd, content, len), (ssize_t)len);
	CU_ASSERT_EQUAL_FATAL(fchmod(fd, mode), 0);
	close(fd);
	ret = ddio_key_load(path, shared, key, err, 256);
	if (ret)
		CU_ASSERT_PTR_NOT_NULL(strstr(err, path));
	unlink(path);
	return ret;
}

static int load(const char *content, size_t len, mode_t mode, struct ddio_key *key, char *err)
{
	return load_as(false, content, len, mode, key, err);
}

/* A key of several different letters, the first of which is @c. */
static void fill(char *text, char c, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		text[i] = (char)(c + i % 5);
}

static void test_key_files(void)
{
	char err[256] = "", text[100];
	struct ddio_key key;

	fill(text, 'k', sizeof(text));
	text[64] = '\n';
	CU_ASSERT_EQUAL(load(text, 16, 0600, &key, err), 0);
	CU_ASSERT_EQUAL(key.len, 16);
	CU_ASSERT_EQUAL(load(text, 65, 0400, &key, err), 0);
	CU_ASSERT_EQUAL(key.len, 64);
	CU_ASSERT_EQUAL(memcmp(key.bytes, text, 64), 0);
	CU_ASSERT_EQUAL(load(text, 15, 0600, &key, err), -EINVAL);
	CU_ASSERT_EQUAL(load(text, 0, 0600, &key, err), -EINVAL);
	CU_ASSERT_EQUAL(load(text, 66, 0600, &key, err), -EINVAL);
	CU_ASSERT_EQUAL(load(text, 100, 0600, &key, err), -EINVAL);
	CU_ASSERT_EQUAL(load(text, 32, 0640, &key, err), -EACCES);
	CU_ASSERT_EQUAL(load(text, 32, 0604, &key, err), -EACCES);
	CU_ASSERT_EQUAL(load(text, 32, 0610, &key, err), -EACCES);
	CU_ASSERT_EQUAL(key.len, 0);
	CU_ASSERT_EQUAL(ddio_key_load("/tmp", false, &key, err, sizeof(err)), -EINVAL);
	CU_ASSERT_EQUAL(ddio_key_load("/nonexistent/key", false, &key, err, sizeof(err)), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "/nonexistent/key"));
}

/* Where users are told apart, root's may be shared with a group, others' may not. */
static void test_shared_key_files(void)
{
	char err[256] = "", text[32];
	struct ddio_key key;

	fill(text, 'k', sizeof(text));
	CU_ASSERT_EQUAL(load_as(true, text, 32, 0600, &key, err), 0);
	CU_ASSERT_EQUAL(load_as(true, text, 32, 0640, &key, err), geteuid() ? -EACCES : 0);
	CU_ASSERT_EQUAL(load_as(true, text, 32, 0660, &key, err), -EACCES);
	CU_ASSERT_EQUAL(load_as(true, text, 32, 0650, &key, err), -EACCES);
	CU_ASSERT_EQUAL(load_as(true, text, 32, 0644, &key, err), -EACCES);
}

static void put(const char *path, char c, mode_t mode)
{
	char text[33];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fill(text, c, 32);
	text[32] = '\n';
	CU_ASSERT_EQUAL_FATAL(write(fd, text, sizeof(text)), (ssize_t)sizeof(text));
	CU_ASSERT_EQUAL(fchmod(fd, mode), 0);
	close(fd);
}

/* The other key stands beside it, and is no less guarded. */
static void test_two_key_files(void)
{
	char dir[] = "/tmp/ddio-keys-XXXXXX", one[64], other[PATH_MAX], err[256] = "";
	char name[2][DDIO_KEY_NAME];
	struct ddio_key_look looks[2] = { 0 };
	struct ddio_key key;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(one, sizeof(one), "%s/key", dir);
	CU_ASSERT_EQUAL(ddio_key_other_path(one, other), 0);
	CU_ASSERT_STRING_EQUAL(other + strlen(dir), "/key.2");
	CU_ASSERT(!ddio_key_changed(one, looks));
	put(one, 'a', 0600);
	CU_ASSERT(ddio_key_changed(one, looks));
	CU_ASSERT(!ddio_key_changed(one, looks));
	CU_ASSERT_EQUAL(ddio_key_load(one, false, &key, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(key.other_len, 0);
	CU_ASSERT(ddio_key_name(&key, false, name[0]));
	CU_ASSERT(!ddio_key_name(&key, true, name[1]));
	put(other, 'b', 0600);
	CU_ASSERT(ddio_key_changed(one, looks));
	CU_ASSERT_EQUAL(ddio_key_load(one, false, &key, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(key.len, 32);
	CU_ASSERT_EQUAL(key.other_len, 32);
	CU_ASSERT_EQUAL(key.bytes[0], 'a');
	CU_ASSERT_EQUAL(key.other[0], 'b');
	CU_ASSERT(ddio_key_name(&key, true, name[1]));
	CU_ASSERT(strcmp(name[0], name[1]));
	put(other, 'b', 0644);
	CU_ASSERT_EQUAL(ddio_key_load(one, false, &key, err, sizeof(err)), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, other));
	unlink(other);
	CU_ASSERT(ddio_key_changed(one, looks));
	unlink(one);
	rmdir(dir);
}

static const struct ut_case connect_cases[] = {
	{ "an honest node", test_connect },
	{ "forged proof", test_connect_forged },
	{ "key on one side", test_connect_one_sided },
	{ "what was not offered", test_connect_not_offered },
	{ "refused", test_connect_refused },
	{ "by a node of the first release", test_connect_first },
	{ "bounded in time", test_connect_timeout },
	{ NULL, NULL },
};

static const struct ut_case key_cases[] = {
	{ "key files", test_key_files },
	{ "shared with a group", test_shared_key_files },
	{ "two keys", test_two_key_files },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "connector", connect_cases },
		{ "keys", key_cases },
	};

	return ut_run("conn_connect", suites, sizeof(suites) / sizeof(suites[0]));
}
