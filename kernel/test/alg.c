/* Checks digests of the kernel: alg REPEAT < LIST. A line of LIST: algorithm, key in hexadecimal or -, length, digest.
 * Byte i of a message is i * 131 + i / 256 modulo 256. */
#include <errno.h>
#include <linux/if_alg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_ALG
#define SOL_ALG 279
#endif
#define MAX_LEN 400000
#define LINE 512

static unsigned char message[MAX_LEN];

static int fail(const char *what)
{
	fprintf(stderr, "alg: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int open_algorithm(const char *name, const char *key)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG, .salg_type = "hash" };
	unsigned char bytes[256];
	size_t n = 0;
	int s = socket(AF_ALG, SOCK_SEQPACKET, 0);

	snprintf((char *)address.salg_name, sizeof address.salg_name, "%s", name);
	if (s < 0 || bind(s, (void *)&address, sizeof address) < 0)
		fail(name);
	for (; strcmp(key, "-") && n < sizeof bytes && sscanf(key + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
		;
	if (n && setsockopt(s, SOL_ALG, ALG_SET_KEY, bytes, n) < 0)
		fail("key");
	return s;
}

/* The parts that a message is sent in grow from `part` on, so that they end at many places of a block. */
static void digest(int s, size_t len, size_t part, char *hex)
{
	unsigned char bytes[64];
	ssize_t n, i;
	size_t done = 0;
	int operation = accept(s, NULL, 0);

	if (operation < 0)
		fail("accept");
	do {
		size_t now = len - done < part ? len - done : part;

		if (send(operation, message + done, now, MSG_MORE) != (ssize_t)now)
			fail("send");
		done += now;
		part = part * 3 + 1;
		if (part > 50000)
			part = 50000;
	} while (done < len);
	n = read(operation, bytes, sizeof bytes);
	if (n < 0)
		fail("read");
	for (i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
	close(operation);
}

int main(int argc, char **argv)
{
	int repeat = argc > 1 ? atoi(argv[1]) : 1, wrong = 0, checked = 0;
	char line[LINE], name[64], key[300], expected[130], hex[130], last[400] = "";
	int s = -1;
	size_t len;

	for (size_t i = 0; i < MAX_LEN; i++)
		message[i] = i * 131 + i / 256;
	while (fgets(line, sizeof line, stdin)) {
		char wanted[400];

		if (sscanf(line, "%63s %299s %zu %129s", name, key, &len, expected) != 4 || len > MAX_LEN)
			return fprintf(stderr, "alg: bad line: %s", line), 2;
		snprintf(wanted, sizeof wanted, "%s %s", name, key);
		if (strcmp(wanted, last)) {
			close(s);
			s = open_algorithm(name, key);
			strcpy(last, wanted);
		}
		for (int i = 0; i < repeat; i++) {
			digest(s, len, i % 2 ? 17 : 50000, hex);
			checked++;
			if (strcmp(hex, expected)) {
				wrong++;
				printf("%s of %zu bytes: expected %s, found %s\n", name, len, expected, hex);
			}
		}
	}
	printf("alg: %d digests, %d wrong\n", checked, wrong);
	return wrong || !checked;
}
