/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetching: a spec becomes a folder with package.json, package-lock.json and node_modules,
 * made by npm with --ignore-scripts in a hardened container of its own.
 */
#ifndef QP_TOOLS_DOWNLOAD_DOWNLOAD_H
#define QP_TOOLS_DOWNLOAD_DOWNLOAD_H

#include "base/error.h"
#include "tools/sandbox/sandbox.h"

#include <jansson.h>

enum spec_source {
	SPEC_REGISTRY,
	SPEC_FIXTURE,
	SPEC_FOLDER,
	SPEC_TARBALL,
};

/* What was asked for. */
struct spec {
	enum spec_source source;
	char requested[512]; /* as typed */
	char name[256];	     /* registry: the package's name */
	char range[256];     /* registry: version, range or tag; "" for latest */
	char path[4096];     /* others: absolute */
};

/* Reads SPEC: name@version, fixture:NAME, a folder or a .tgz file. -EINVAL with the reason
 * for anything else, -ENOENT for a path or fixture that is not there. */
int spec_parse(const char *text, struct spec *ret_spec, struct qp_error *err);

/* "registry", "fixture", "folder", "tarball" */
const char *spec_source_name(enum spec_source source);

struct download {
	json_t *report;	  /* the receipt's `download` object */
	json_t *packages; /* the log's `packages` record */
	char name[256], version[256];
	char integrity[256]; /* of the package asked for, "sha512-..." */
	bool refused;	     /* precheck or lockcheck found specs that are not the registry's:
			      * nothing of theirs was fetched, @report says which */
};

/* What a fetch may write to its folder in all before it is stopped. */
uint64_t download_bytes(const struct limits *limits);

/*
 * Fetches @spec into the empty folder @out_dir, at most limits->download_*. Whatever is
 * reported was read back. -EHOSTUNREACH, -ENOENT (no such package or version), -EBADMSG
 * (corrupt tarball, no package.json), -ETIMEDOUT, -EFBIG, -ECANCELED (@cancel_fd became
 * readable) and others, each with its cause and mend in @err; a refusal is no error.
 */
int download_run(const struct spec *spec, const char *task_id, const char *runtime,
		 const struct limits *limits, const struct persona *persona, const char *out_dir,
		 int cancel_fd, struct download *ret_download, struct qp_error *err);

void download_clear(struct download *download);

#endif
