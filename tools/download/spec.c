// SPDX-License-Identifier: Apache-2.0
/* Reading SPEC: what is to be fetched, without fetching anything. */
#include "tools/download/download.h"

#include "base/cleanup.h"
#include "tools/download/paths.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define FIXTURE_PREFIX "fixture:"
#define NAME_MAX_LEN   214 /* npm's limit of a package's name, its scope included */

static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-._~";

const char *spec_source_name(enum spec_source source)
{
	static const char *const names[] = {"registry", "fixture", "folder", "tarball"};

	return names[source];
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

/* npm's own distinction: a bare word is the registry's, whatever lies in this folder. */
static bool is_path(const char *text)
{
	return *text == '/' || !strcmp(text, ".") || !strcmp(text, "..") ||
	       !strncmp(text, "./", 2) || !strncmp(text, "../", 3) || ends_with(text, ".tgz") ||
	       ends_with(text, ".tar.gz");
}

static int path_parse(struct spec *spec, struct qp_error *err)
{
	_cleanup_free_ char *real = realpath(spec->requested, NULL);
	struct stat st;

	if (!real || stat(real, &st))
		return qp_error_set(err, -errno, "%s: %s (a folder or a .tgz file is expected)",
				    spec->requested, strerror(errno));
	if (S_ISDIR(st.st_mode))
		spec->source = SPEC_FOLDER;
	else if (S_ISREG(st.st_mode))
		spec->source = SPEC_TARBALL;
	else
		return qp_error_set(err, -EINVAL, "%s is neither a folder nor a file",
				    spec->requested);
	if (strlen(real) >= sizeof(spec->path))
		return qp_error_set(err, -ENAMETOOLONG, "the path %s is too long", real);
	strcpy(spec->path, real);
	return 0;
}

static int fixture_parse(struct spec *spec, struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = fixture_path(spec->requested + strlen(FIXTURE_PREFIX), &path, err);

	if (r)
		return r;
	if (strlen(path) >= sizeof(spec->path))
		return qp_error_set(err, -ENAMETOOLONG, "the path %s is too long", path);
	strcpy(spec->path, path);
	spec->source = SPEC_FIXTURE;
	return 0;
}

static bool is_name_part(const char *text, size_t len)
{
	return len && strchr("._", *text) == NULL && strspn(text, name_chars) >= len;
}

static bool is_name(const char *name)
{
	const char *slash = strchr(name, '/');

	if (strlen(name) > NAME_MAX_LEN)
		return false;
	if (*name != '@')
		return is_name_part(name, strlen(name));
	return slash && is_name_part(name + 1, (size_t)(slash - name - 1)) &&
	       is_name_part(slash + 1, strlen(slash + 1));
}

/* What npm would take for a URL, a git repository or an alias has one of these. */
static bool is_range(const char *range)
{
	for (const char *p = range; *p; p++) {
		if (*p < ' ' || *p > '~' || strchr(":/\\\"'`", *p))
			return false;
	}
	return true;
}

static int registry_parse(struct spec *spec, struct qp_error *err)
{
	const char *text = spec->requested;
	const char *at = *text ? strchr(text + 1, '@') : NULL;
	size_t name_len = at ? (size_t)(at - text) : strlen(text);

	if (name_len >= sizeof(spec->name) || (at && strlen(at + 1) >= sizeof(spec->range)))
		return qp_error_set(err, -EINVAL, "the package '%s' has too long a name", text);
	memcpy(spec->name, text, name_len);
	if (at)
		strcpy(spec->range, at + 1);
	if (!is_name(spec->name))
		return qp_error_set(err, -EINVAL,
				    "'%s' is no package: NAME@VERSION, fixture:NAME, a folder "
				    "(./DIR) or a .tgz file is expected",
				    text);
	if (at && !*spec->range)
		return qp_error_set(err, -EINVAL, "'%s' lacks the version after its '@'", text);
	if (!is_range(spec->range))
		return qp_error_set(err, -EINVAL,
				    "'%s' is no version of the registry's: git repositories, URLs "
				    "and aliases are not fetched; use NAME@VERSION, or pack it to "
				    "a .tgz file first",
				    spec->range);
	spec->source = SPEC_REGISTRY;
	return 0;
}

int spec_parse(const char *text, struct spec *ret_spec, struct qp_error *err)
{
	struct spec spec = {0};
	int r;

	if (strlen(text) >= sizeof(spec.requested))
		return qp_error_set(err, -EINVAL, "the package's spec is longer than %zu bytes",
				    sizeof(spec.requested) - 1);
	strcpy(spec.requested, text);
	if (!strncmp(text, FIXTURE_PREFIX, strlen(FIXTURE_PREFIX)))
		r = fixture_parse(&spec, err);
	else if (is_path(text))
		r = path_parse(&spec, err);
	else
		r = registry_parse(&spec, err);
	if (!r)
		*ret_spec = spec;
	return r;
}
