// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of TLS 1.3 by the kernel: what is written to the socket leaves it encrypted, and what is read is what the other
 * end has written.  Keys are replaced while the connection lives, which Linux knows since 6.14; what cannot do that does not count
 * as able, since AES-GCM wears out.
 */
#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "env/real/seal.h"

int real_seal(int fd, bool out, const struct env_record_key *key)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info = { .version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	int ret;

	_Static_assert(sizeof(info.key) == sizeof(key->key), "a key");
	_Static_assert(sizeof(info.salt) + sizeof(info.iv) == sizeof(key->iv), "its nonce");
	memcpy(info.key, key->key, sizeof(info.key));
	memcpy(info.salt, key->iv, sizeof(info.salt));
	memcpy(info.iv, key->iv + sizeof(info.salt), sizeof(info.iv));
	/* Once for both directions. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) && errno != EEXIST)
		return -errno;
	ret = setsockopt(fd, SOL_TLS, out ? TLS_TX : TLS_RX, &info, sizeof(info)) ? -errno : 0;
	explicit_bzero(&info, sizeof(info));
	return ret;
}

ssize_t real_special_get(int fd, uint8_t *type, void *buf, size_t len)
{
	char space[CMSG_SPACE(sizeof(*type))];
	struct iovec v = { buf, len };
	struct msghdr msg = { .msg_iov = &v,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	const struct cmsghdr *c;
	ssize_t n;

	do {
		n = recvmsg(fd, &msg, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_level != SOL_TLS || c->cmsg_type != TLS_GET_RECORD_TYPE)
		return -EBADMSG;
	memcpy(type, CMSG_DATA(c), sizeof(*type));
	return n;
}

ssize_t real_special_put(int fd, uint8_t type, const void *buf, size_t len)
{
	char space[CMSG_SPACE(sizeof(type))] = { 0 };
	struct iovec v = { (void *)buf, len };
	struct msghdr msg = { .msg_iov = &v,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	c->cmsg_level = SOL_TLS;
	c->cmsg_type = TLS_SET_RECORD_TYPE;
	c->cmsg_len = CMSG_LEN(sizeof(type));
	memcpy(CMSG_DATA(c), &type, sizeof(type));
	do {
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* A connection of this process with itself.  Return: its connecting end, whose other end is @other, or -1. */
static int loop_pair(int *other)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), s = -1;
	socklen_t len = sizeof(at);

	*other = -1;
	if (l < 0)
		return -1;
	if (!bind(l, (struct sockaddr *)&at, len) && !listen(l, 1) &&
	    !getsockname(l, (struct sockaddr *)&at, &len))
		s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s >= 0 && !connect(s, (struct sockaddr *)&at, len))
		*other = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	close(l);
	return s;
}

static bool possible;

static void look(void)
{
	static const struct env_record_key key;
	int other, fd = loop_pair(&other);

	/* The second time it is another key for the kernel. */
	possible = fd >= 0 && other >= 0 && !real_seal(fd, true, &key) &&
		   !real_seal(fd, true, &key) && !real_seal(fd, false, &key) &&
		   !real_seal(fd, false, &key);
	if (fd >= 0)
		close(fd);
	if (other >= 0)
		close(other);
}

bool real_seal_possible(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
	return possible;
}
