// SPDX-License-Identifier: GPL-2.0-only
/* The manual page of the disk engines agrees with their tables; run from the top folder. */
#include <stdlib.h>
#include <string.h>
#include "env/disk/disk.h"
#include "tests/unit/lib/ut.h"

static void test_manual(void)
{
	FILE *page = fopen("Documentation/man/ddio-disk-engines.7", "r");
	char *list = NULL, *text, *line, *save;
	size_t list_len = 0, n;
	char word[64], in_page[80];
	FILE *out;

	CU_ASSERT_PTR_NOT_NULL_FATAL(page);
	text = calloc(1, 65536);
	n = fread(text, 1, 65535, page);
	CU_ASSERT(n > 0 && n < 65535);
	fclose(page);
	out = open_memstream(&list, &list_len);
	disk_engines_print(out);
	fclose(out);
	n = 0;
	for (line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, " %63[a-z0-9_]", word) != 1 || !strcmp(word, "any"))
			continue;
		snprintf(in_page, sizeof(in_page), line[0] == ' ' ? "\n.BR %s =" : "\n.SS %s\n",
			 word);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, in_page));
		if (!strstr(text, in_page))
			printf("\nnot in the manual: %s\n", word);
		n++;
	}
	/* And nothing in the page that is not in the tables. */
	for (line = text; (line = strstr(line, "\n.BR ")); line++)
		n -= !!strstr(line, "=") && strcspn(line + 1, "\n") > strcspn(line + 1, "=");
	for (line = text; (line = strstr(line, "\n.SS ")); line++)
		n -= strncmp(line, "\n.SS Every", 10) != 0;
	CU_ASSERT_EQUAL(n, 0);
	free(text);
	free(list);
}

static const struct ut_case cases[] = {
	{ "the manual has every engine and option", test_manual },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_manual", cases } };

	return ut_run("env_manual", suites, 1);
}
