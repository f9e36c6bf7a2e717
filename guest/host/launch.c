/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * launch [--show DIR]... [--hide DIR]... GUESTDIR LINUX ARGUMENT...
 *
 * Starts a guest's kernel in a sandbox: root inside a guest is an ordinary process here, with fewer privileges.
 *
 *   user     own user namespace, no capabilities and no way to gain any; user 65534 if started by root
 *   files    read-only except GUESTDIR; /home /root /run /tmp /var/tmp /sys are empty, /dev has five devices
 *   network  own, empty namespace
 *   pids     own namespace: all processes end with the first one, which ends with the caller and the caller's thread
 *
 * GUESTDIR and the folder of LINUX keep their paths. --show adds another folder (read-only), --hide empties one.
 * Environment, arguments and standard streams are passed on; the working directory is GUESTDIR. The exit status is that of
 * LINUX, 128 plus the signal number if killed, or 125 with a line on stderr if it could not be started.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
enum { NOBODY = 65534, FAILED = 125 };
enum { READ_ONLY = 1, NO_SUID = 2, NO_DEVICES = 4 }; /* MOUNT_ATTR_* */

static const char ROOT[] = "/tmp";	 /* mount point of the new root; it hides the caller's files */

static void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void die(const char *format, ...)
{
	int error = errno;
	va_list arguments;

	fputs("launch: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s%s\n", error ? ": " : "", error ? strerror(error) : "");
	_exit(FAILED);
}

static char *under(const char *path)
{
	static char places[4][PATH_MAX + 8];
	static int turn;
	char *place = places[turn++ & 3];

	if (snprintf(place, PATH_MAX, "%s%s", ROOT, path) >= PATH_MAX)
		errno = ENAMETOOLONG, die("%s", path);
	return place;
}

static void put(const char *file, const char *format, ...)
{
	char text[64];
	va_list arguments;
	int fd = open(file, O_WRONLY | O_CLOEXEC), length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (fd < 0 || write(fd, text, length) != length)
		die("%s", file);
	close(fd);
}

/* Creates a user namespace that maps only this user, to the same ID. */
static void own_users(int flags)
{
	uid_t user = geteuid();
	gid_t group = getegid();

	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER | flags))
		die("no user namespace (is user.max_user_namespaces 0, or kernel.apparmor_restrict_unprivileged_userns 1?)");
	put("/proc/self/setgroups", "deny");
	put("/proc/self/uid_map", "%u %u 1", user, user);
	put("/proc/self/gid_map", "%u %u 1", group, group);
}

static void make_folders(const char *path)
{
	char *at = strdup(under(path));

	for (char *slash = at + sizeof ROOT; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		if (mkdir(at, 0755) && errno != EEXIST && errno != EROFS)
			die("%s", path);
	}
	if (mkdir(at, 0755) && errno != EEXIST && errno != EROFS)
		die("%s", path);
	free(at);
}

static void attributes(const char *path, unsigned long long set, int flags)
{
	struct { unsigned long long set, clear, propagation, user; } wanted = { .set = set };

	if (syscall(SYS_mount_setattr, -1, under(path), (unsigned)flags, &wanted, sizeof wanted))
		die("%s: could not be made read-only (Linux 5.12 or newer is needed)", path);
}

/* Clones the mount of `from`, with or without submounts. Opened before the new root hides it. */
static void bind(int from, const char *path, unsigned long long set, int recursive)
{
	char source[32];

	snprintf(source, sizeof source, "/proc/self/fd/%d", from);
	if (mount(source, under(path), NULL, MS_BIND | (recursive ? MS_REC : 0), NULL))
		die("%s: could not be bound", path);
	attributes(path, set, recursive ? AT_RECURSIVE : 0);
}

static void empty(const char *path, const char *options, int flags)
{
	if (mount("tmpfs", under(path), "tmpfs", MS_NOSUID | flags, options))
		die("%s: no tmpfs", path);
}

static int opened(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		die("%s", path);
	return fd;
}

static int is_new(const char *name)
{
	static const char *const names[] = { ".", "..", "home", "root", "run", "tmp", "dev", "proc", "sys", "lost+found" };

	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		if (!strcmp(name, names[n]))
			return 1;
	return 0;
}

static void devices(void)
{
	static const char *const names[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };
	int from[5];

	for (int n = 0; n < 5; n++)
		from[n] = opened(names[n]);
	empty("/dev", "mode=755", 0);
	for (int n = 0; n < 5; n++) {
		int file = open(under(names[n]), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		if (file < 0)
			die("%s", names[n]);
		close(file);
		bind(from[n], names[n], NO_SUID, 0);
		close(from[n]);
	}
	make_folders("/dev/shm");
	attributes("/dev", READ_ONLY | NO_SUID, 0);
	empty("/dev/shm", "mode=1777", MS_NODEV); /* guest memory, which must be executable */
}

struct shown { const char *path; int fd; unsigned long long set; };

/* Builds the new root: a tmpfs with folders of the old root. */
static void files(const struct shown *shown, int count, char *const *hidden, int hide)
{
	DIR *old;
	struct dirent *entry;
	char path[PATH_MAX], target[PATH_MAX];

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("mounts could not be made private");
	old = opendir("/");
	if (!old)
		die("/");
	/* The old /tmp is not needed: all folders to show are already open. */
	if (mount("tmpfs", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
		die("no tmpfs");
	while ((entry = readdir(old))) {
		struct stat found;
		int fd;

		if (is_new(entry->d_name))
			continue;
		snprintf(path, sizeof path, "/%s", entry->d_name);
		if (lstat(path, &found))
			continue;
		if (S_ISLNK(found.st_mode)) {
			ssize_t length = readlink(path, target, sizeof target - 1);

			if (length > 0) {
				target[length] = 0;
				if (symlink(target, under(path)))
					die("%s", path);
			}
		} else if (S_ISDIR(found.st_mode) && (fd = open(path, O_PATH | O_CLOEXEC)) >= 0) {
			make_folders(path);
			bind(fd, path, READ_ONLY | NO_SUID | NO_DEVICES, 1);
			close(fd);
		}
	}
	closedir(old);
	for (int n = 0; n < 6; n++) {
		static const char *const names[] = { "/home", "/root", "/run", "/tmp", "/proc", "/sys" };

		make_folders(names[n]);
	}
	make_folders("/dev");
	devices();
	empty("/tmp", "mode=1777", MS_NODEV);
	if (!access(under("/var/tmp"), F_OK))
		empty("/var/tmp", "mode=1777", MS_NODEV);
	for (int n = 0; n < hide; n++)
		if (!access(under(hidden[n]), F_OK))
			empty(hidden[n], "mode=755", MS_NODEV | MS_RDONLY);
	for (int n = 0; n < count; n++) {
		make_folders(shown[n].path);
		bind(shown[n].fd, shown[n].path, shown[n].set, 0);
		close(shown[n].fd);
	}
}

/* Enters the new root. Called in process 1, because /proc shows the PID namespace of the mounter. */
static void enter(const char *guest)
{
	if (mount("proc", under("/proc"), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		die("no /proc of its own (a container that hides parts of /proc forbids it)");
	attributes("", READ_ONLY | NO_SUID | NO_DEVICES, 0);
	if (chdir(ROOT) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		die("the root could not be changed");
	if (chdir(guest))
		die("%s", guest);
}

static void without_powers(void)
{
	struct { unsigned version; int pid; } head = { 0x20080522, 0 };
	struct { unsigned effective, permitted, inheritable; } none[2] = { 0 };

	for (int power = 0; power < 64; power++)
		prctl(PR_CAPBSET_DROP, power, 0, 0, 0); /* those that this kernel supports */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("capabilities could not be dropped");
}

static int given_away(const char *path, const struct stat *found, int kind, struct FTW *at)
{
	(void)found, (void)kind, (void)at;
	return lchown(path, NOBODY, NOBODY) && errno != ENOENT ? -1 : 0;
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int waited(pid_t child)
{
	int status;
	pid_t ended;

	while ((ended = wait(&status)) != child)
		if (ended < 0 && errno != EINTR)
			die("wait");
	return status_of(status);
}

/* Process 1 of the PID namespace, with the kernel as its child. */
static void inside(const char *guest, char **command, int alive, int as_nobody)
{
	struct pollfd parent = { .fd = alive, .events = POLLIN };
	pid_t kernel;

	enter(guest);
	if (as_nobody && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		die("could not become the user %d", NOBODY);
	own_users(CLONE_NEWNS); /* mounts belong to the parent namespace, and cannot be changed from here */
	without_powers();
	/* After everything that clears it. The pipe detects a parent that ended before. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || (poll(&parent, 1, 0) > 0 && parent.revents))
		die("the caller has gone");
	kernel = fork();
	if (kernel < 0)
		die("fork");
	if (kernel > 0)
		_exit(waited(kernel));
	execv(command[0], command);
	die("%s", command[0]);
}

int main(int count, char **words)
{
	struct shown shown[34];
	char *hidden[32], guest[PATH_MAX], program[PATH_MAX];
	int shows = 0, hides = 0, at = 1, alive[2], is_root = geteuid() == 0;
	const struct rlimit no_core = { 0, 0 };
	pid_t first;

	for (; at + 1 < count && !strncmp(words[at], "--", 2); at += 2) {
		if (words[at + 1][0] != '/')
			errno = 0, die("%s: found \"%s\", expected an absolute path", words[at], words[at + 1]);
		if (!strcmp(words[at], "--show") && shows < 32)
			shown[shows++] = (struct shown){ words[at + 1], -1, READ_ONLY | NO_SUID | NO_DEVICES };
		else if (!strcmp(words[at], "--hide") && hides < 32)
			hidden[hides++] = words[at + 1];
		else
			errno = 0, die("%s: expected --show DIR or --hide DIR, 32 at most", words[at]);
	}
	if (count - at < 2)
		errno = 0, die("expected [--show DIR] [--hide DIR] GUESTDIR LINUX ARGUMENT...");
	if (!realpath(words[at], guest))
		die("%s", words[at]);
	if (!realpath(words[at + 1], program))
		die("%s", words[at + 1]);
	syscall(SYS_close_range, 3U, ~0U, 0U);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || personality(ADDR_NO_RANDOMIZE) < 0 || setrlimit(RLIMIT_CORE, &no_core))
		die("prctl");
	if (is_root && nftw(guest, given_away, 16, FTW_PHYS | FTW_MOUNT))
		die("%s: could not be given to the user %d", guest, NOBODY);
	/* Show the folder, not only the kernel's file: the preloaded library is next to it. */
	shown[shows++] = (struct shown){ dirname(strdup(program)), -1, READ_ONLY | NO_SUID | NO_DEVICES };
	shown[shows++] = (struct shown){ guest, -1, NO_SUID | NO_DEVICES };
	words[at + 1] = program;
	if (!is_root)
		own_users(0);
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS))
		die("no namespaces of its own");
	if (pipe2(alive, O_CLOEXEC))
		die("pipe");
	for (int n = 0; n < shows; n++)
		shown[n].fd = opened(shown[n].path); /* in the new namespace, before anything covers it */
	files(shown, shows, hidden, hides);
	first = fork();
	if (first < 0)
		die("fork");
	if (first == 0) {
		close(alive[1]);
		inside(guest, words + at + 1, alive[0], is_root);
	}
	return waited(first);
}
