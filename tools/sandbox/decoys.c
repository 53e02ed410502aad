// SPDX-License-Identifier: Apache-2.0
/* A home as a developer has one. Its credentials are made up for one run, so that wherever
 * one of their values turns up, it came from here. */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/inroot.h"
#include "tools/sandbox/random.h"
#include "tools/sandbox/ssh_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TOKEN_SIZE   128
#define TEXT_SIZE    2048
#define DAY_SECONDS  86400U
#define AGE_DAYS_MAX 400
#define MODE_SECRET  0600
#define MODE_PLAIN   0644
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static const char *const companies[] = {
	"brightloop", "corvusworks", "halden", "mirelle", "northgate", "ostrava", "tillerline",
};
static const char *const projects[] = {
	"billing-api", "checkout", "data-sync", "web-portal", "inventory", "mailer", "reports",
};

/* A home under construction; the first failure stays in r, and nothing is done after it. */
struct home {
	const struct persona *persona;
	const char *company, *project;
	json_t *files, *values;
	int r;
};

static void home_fail(struct home *home, int r)
{
	if (!home->r)
		home->r = r;
}

/* A new secret: @prefix and @len characters of @alphabet, known from here on as @label. */
static void secret_make(struct home *home, const char *label, const char *prefix,
			const char *alphabet, size_t len, char token[static TOKEN_SIZE])
{
	size_t prefix_len = strlen(prefix);
	int r;

	token[0] = '\0';
	if (home->r)
		return;
	memcpy(token, prefix, prefix_len);
	r = random_text(alphabet, len, token + prefix_len);
	if (!r && json_object_set_new(home->values, label, json_string(token)))
		r = -ENOMEM;
	home_fail(home, r);
}

/* Adds the file @path of the home; one of mode MODE_SECRET is a credential. */
static void file_add(struct home *home, const char *path, int mode, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void file_add(struct home *home, const char *path, int mode, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	uint32_t age = 0;
	va_list args;
	int len, r;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		text = NULL;
		home_fail(home, -ENOMEM);
		return;
	}
	r = random_below(AGE_DAYS_MAX * DAY_SECONDS, &age);
	if (!r && json_array_append_new(home->files,
					json_pack("{s:s, s:s, s:i, s:I, s:b}", "path", path, "text",
						  text, "mode", mode, "age", (json_int_t)age,
						  "secret", mode == MODE_SECRET)))
		r = -ENOMEM;
	home_fail(home, r);
}

static void plain_files(struct home *home)
{
	const char *user = home->persona->user, *company = home->company, *project = home->project;

	file_add(home, "/.bash_history", MODE_SECRET,
		 "cd ~/src/%s\ngit pull --rebase\nnpm ci\nnpm test\ngit checkout -b fix/timeouts\n"
		 "vim src/index.js\nnpm run lint\ngit commit -am 'Raise the timeout'\n"
		 "git push -u origin fix/timeouts\nls -la\nkubectl get pods -n %s\n"
		 "ssh deploy@bastion.%s.internal\naws s3 ls\ndf -h\nnode --version\n",
		 project, project, company);
	file_add(home, "/.gitconfig", MODE_PLAIN,
		 "[user]\n\tname = %s\n\temail = %s@%s.example\n[pull]\n\trebase = true\n"
		 "[init]\n\tdefaultBranch = main\n[credential]\n\thelper = store\n",
		 user, user, company);
	file_add(home, "/.bashrc", MODE_PLAIN,
		 "case $- in\n    *i*) ;;\n      *) return;;\nesac\nHISTSIZE=5000\n"
		 "alias ll='ls -alF'\nalias gs='git status'\nexport EDITOR=vim\n");
	file_add(home, "/.profile", MODE_PLAIN,
		 "if [ -n \"$BASH_VERSION\" ] && [ -f \"$HOME/.bashrc\" ]; then\n"
		 "    . \"$HOME/.bashrc\"\nfi\n");
	file_add(home, "/.ssh/config", MODE_PLAIN,
		 "Host bastion\n    HostName bastion.%s.internal\n    User deploy\n\n"
		 "Host git.%s.internal\n    User git\n    IdentityFile ~/.ssh/id_ed25519\n",
		 company, company);
}

static void ssh_files(struct home *home)
{
	_cleanup_free_ char *file = NULL, *public = NULL, *secret = NULL;
	_cleanup_free_ char *host_file = NULL, *host_public = NULL, *host_secret = NULL;
	char comment[100];
	int r;

	snprintf(comment, sizeof(comment), "%s@%.60s", home->persona->user, home->persona->host);
	r = ssh_key_make(comment, &file, &public, &secret);
	if (!r)
		r = ssh_key_make("", &host_file, &host_public, &host_secret);
	if (!r && json_object_set_new(home->values, "ssh-private-key", json_string(secret)))
		r = -ENOMEM;
	home_fail(home, r);
	if (r)
		return;
	file_add(home, "/.ssh/id_ed25519", MODE_SECRET, "%s", file);
	file_add(home, "/.ssh/id_ed25519.pub", MODE_PLAIN, "%s", public);
	host_public[strcspn(host_public, "\n") - 1] = '\0'; /* the comment's space */
	file_add(home, "/.ssh/known_hosts", MODE_PLAIN, "bastion.%s.internal %s\n", home->company,
		 host_public);
}

static void token_files(struct home *home)
{
	const char *user = home->persona->user, *company = home->company;
	char key[TOKEN_SIZE], secret[TOKEN_SIZE], token[TOKEN_SIZE];

	secret_make(home, "npm-token", "npm_", ALPHABET_ALNUM, 36, token);
	file_add(home, "/.npmrc", MODE_SECRET,
		 "@%s:registry=https://npm.%s.internal/\n//npm.%s.internal/:_authToken=%s\n",
		 company, company, company, token);
	secret_make(home, "aws-access-key-id", "AKIA", ALPHABET_BASE32, 16, key);
	secret_make(home, "aws-secret-access-key", "", ALPHABET_BASE64, 40, secret);
	file_add(home, "/.aws/credentials", MODE_SECRET,
		 "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", key, secret);
	file_add(home, "/.aws/config", MODE_PLAIN,
		 "[default]\nregion = eu-central-1\noutput = json\n");
	secret_make(home, "gh-token", "gho_", ALPHABET_ALNUM, 36, token);
	file_add(home, "/.config/gh/hosts.yml", MODE_SECRET,
		 "git.%s.internal:\n    user: %s\n    oauth_token: %s\n    git_protocol: ssh\n",
		 company, user, token);
	secret_make(home, "git-token", "ghp_", ALPHABET_ALNUM, 36, token);
	file_add(home, "/.git-credentials", MODE_SECRET, "https://%s:%s@git.%s.internal\n", user,
		 token, company);
	secret_make(home, "netrc-password", "", ALPHABET_ALNUM, 24, token);
	file_add(home, "/.netrc", MODE_SECRET,
		 "machine artifacts.%s.internal\n  login %s\n  password %s\n", company, user,
		 token);
	secret_make(home, "kube-token", "eyJhbGciOiJSUzI1NiIsImtpZCI6I", ALPHABET_URL, 90, token);
	file_add(home, "/.kube/config", MODE_SECRET,
		 "apiVersion: v1\nkind: Config\nclusters:\n- name: %s\n  cluster:\n"
		 "    server: https://k8s.%s.internal:6443\ncontexts:\n- name: %s\n  context:\n"
		 "    cluster: %s\n    user: %s\ncurrent-context: %s\nusers:\n- name: %s\n  user:\n"
		 "    token: %s\n",
		 company, company, company, company, user, company, user, token);
}

static void docker_file(struct home *home)
{
	char password[TOKEN_SIZE], pair[TOKEN_SIZE + 40], base64[2 * TOKEN_SIZE + 40];

	secret_make(home, "docker-password", "dckr_pat_", ALPHABET_URL, 27, password);
	snprintf(pair, sizeof(pair), "%s:%s", home->persona->user, password);
	EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)pair, (int)strlen(pair));
	/* What is in the file is the encoded pair, and that is what a thief would send. */
	if (!home->r && json_object_set_new(home->values, "docker-auth", json_string(base64)))
		home_fail(home, -ENOMEM);
	file_add(home, "/.docker/config.json", MODE_SECRET,
		 "{\n\t\"auths\": {\n\t\t\"images.%s.internal\": {\n\t\t\t\"auth\": \"%s\"\n\t\t}\n"
		 "\t}\n}\n",
		 home->company, base64);
}

int decoys_make(const struct persona *persona, json_t **ret_decoys)
{
	struct home home = {.persona = persona, .files = json_array(), .values = json_object()};
	uint32_t company = 0, project = 0;
	json_t *decoys;

	home_fail(&home, random_below(COUNT(companies), &company));
	home_fail(&home, random_below(COUNT(projects), &project));
	home.company = companies[company];
	home.project = projects[project];
	plain_files(&home);
	ssh_files(&home);
	token_files(&home);
	docker_file(&home);
	decoys = json_pack("{s:o, s:o}", "files", home.files, "values", home.values);
	if (home.r || !decoys) {
		json_decref(decoys);
		return home.r ? home.r : -ENOMEM;
	}
	*ret_decoys = decoys;
	return 0;
}

/* Gives @fd to the persona, last changed @age seconds ago. */
static int file_finish(int fd, const struct persona *persona, mode_t mode, json_int_t age)
{
	time_t when = time(NULL) - (time_t)age;
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};

	if (fchown(fd, persona->uid, persona->gid) < 0 || fchmod(fd, mode) < 0 ||
	    futimens(fd, times) < 0)
		return -errno;
	return 0;
}

/* The folders above @path are the persona's own too, as private as such folders are. */
static int folders_finish(int home_fd, const struct persona *persona, const char *path,
			  json_int_t age)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *folder = strndup(path, (size_t)(slash - path));
		_cleanup_close_ int fd = -1;
		int r;

		fd = folder ? inroot_open(home_fd, folder, O_RDONLY | O_DIRECTORY) : -ENOMEM;
		r = fd < 0 ? fd : file_finish(fd, persona, 0700, age);
		if (r)
			return r;
	}
	return 0;
}

int decoys_write(int home_fd, const struct persona *persona, const json_t *decoys)
{
	const json_t *file;
	size_t i;

	json_array_foreach (json_object_get(decoys, "files"), i, file) {
		const char *path = json_string_value(json_object_get(file, "path"));
		const char *text = json_string_value(json_object_get(file, "text"));
		mode_t mode = (mode_t)json_integer_value(json_object_get(file, "mode"));
		json_int_t age = json_integer_value(json_object_get(file, "age"));
		_cleanup_close_ int fd = -1;
		int r = inroot_write(home_fd, path, mode, text, strlen(text));

		if (r)
			return r;
		fd = inroot_open(home_fd, path, O_RDONLY | O_NOFOLLOW);
		r = fd < 0 ? fd : file_finish(fd, persona, mode, age);
		if (!r)
			r = folders_finish(home_fd, persona, path, age);
		if (r)
			return r;
	}
	return 0;
}
