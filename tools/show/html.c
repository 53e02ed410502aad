// SPDX-License-Identifier: Apache-2.0
/* The HTML document: its head, which forbids all that it does not need, and its sections. */
#include "tools/show/html.h"

#include "base/cleanup.h"
#include "rules/base64.h"
#include "tools/show/html_parts.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

static int subject_print(FILE *out, const json_t *receipt)
{
	const json_t *package = json_object_get(receipt, "package");
	const char *name = member_text(package, "name");
	const char *version = member_text(package, "version");
	int r = html_text(out, *name ? name : member_text(package, "requested"));

	if (r || !*name || !*version)
		return r;
	fputc('@', out);
	return html_text(out, version);
}

/*
 * Even if text came to be markup, the policy would let it do nothing: no script, no request,
 * no form, no other style than the one whose digest it names.
 */
static int head_print(FILE *out, const json_t *receipt)
{
	_cleanup_free_ char *digest = NULL;
	unsigned char sha256[SHA256_BYTES];
	int r;

	if (!EVP_Digest(html_style, strlen(html_style), sha256, NULL, EVP_sha256(), NULL))
		return -ENOMEM;
	digest = base64_encode(sha256, sizeof(sha256));
	if (!digest)
		return -ENOMEM;
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		digest);
	r = html_text(out, member_text(receipt, "verdict"));
	fputs(": ", out);
	r = r ? r : subject_print(out, receipt);
	fprintf(out, "</title>\n<style>%s</style></head>\n", html_style);
	return r;
}

static int title_print(FILE *out, const json_t *receipt)
{
	const char *verdict = member_text(receipt, "verdict");
	int r;

	fprintf(out, "<header><p class=\"verdict %s\">", html_verdict_class(verdict));
	r = html_text(out, verdict);
	fputs("</p>\n<h1>", out);
	r = r ? r : subject_print(out, receipt);
	fputs("</h1>\n<p class=\"soft\">asked for as ", out);
	r = r ? r
	      : html_value(out, json_object_get(json_object_get(receipt, "package"), "requested"));
	fputs("; ", out);
	r = r ? r : html_value(out, json_object_get(receipt, "status"));
	fputs("; ", out);
	r = r ? r : html_value(out, json_object_get(receipt, "startedAt"));
	fputs(" to ", out);
	r = r ? r : html_value(out, json_object_get(receipt, "finishedAt"));
	fputs("</p></header>\n", out);
	return r;
}

int html_print(FILE *out, const json_t *receipt)
{
	static int (*const sections[])(FILE *, const json_t *receipt) = {
		title_print,  html_rules,  html_completeness, html_observations, html_network,
		html_sandbox, html_output, html_evidence,     html_limitations,
	};
	int r = head_print(out, receipt);

	fputs("<body>\n", out);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		r = r ? r : sections[i](out, receipt);
	fputs("</body></html>\n", out);
	return r;
}
