/* SPDX-License-Identifier: Apache-2.0 */
/* An io_uring by its system calls alone, for what the live tests record. Every failure of the
 * ring itself ends the process with a status of its own. */
#ifndef QP_TESTS_COLLECTOR_URING_RING_H
#define QP_TESTS_COLLECTOR_URING_RING_H

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_ENTRIES 64

/* Of kernels newer than the headers (include/uapi/linux/io_uring.h). */
#define OP_FTRUNCATE 55
#define OP_BIND	     56
#define OP_LISTEN    57

struct ring {
	int fd;
	struct io_uring_params params;
	char *rings; /* both queues, as IORING_FEAT_SINGLE_MMAP has them */
	struct io_uring_sqe *sqes;
};

static inline uint32_t *ring_word(const struct ring *ring, uint32_t offset)
{
	return (uint32_t *)(ring->rings + offset);
}

/* 0, or the errno of io_uring_setup(). */
static inline int ring_open(struct ring *ring, uint32_t flags)
{
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 1000;
	ring->fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &ring->params);
	if (ring->fd < 0)
		return errno;
	bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	ring->rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			   IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, RING_ENTRIES * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
	if (ring->rings == MAP_FAILED || ring->sqes == MAP_FAILED)
		_exit(90);
	return 0;
}

/* The next entry of the queue, zeroed. It counts once ring_run() is called. */
static inline struct io_uring_sqe *ring_next(struct ring *ring, uint8_t opcode, int fd)
{
	uint32_t *tail = ring_word(ring, ring->params.sq_off.tail);
	uint32_t index = *tail & (RING_ENTRIES - 1);
	struct io_uring_sqe *sqe = &ring->sqes[index];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->fd = fd;
	ring_word(ring, ring->params.sq_off.array)[index] = index;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return sqe;
}

static inline void ring_enter(struct ring *ring, uint32_t submit, uint32_t wait)
{
	uint32_t flags = wait ? IORING_ENTER_GETEVENTS : 0;

	if (ring->params.flags & IORING_SETUP_SQPOLL) {
		flags |= IORING_ENTER_SQ_WAKEUP;
		submit = 0;
	}
	if (syscall(SYS_io_uring_enter, ring->fd, submit, wait, flags, NULL, 0) < 0)
		_exit(91);
}

/* The result of the next finished request, which is waited for. */
static inline int ring_result(struct ring *ring)
{
	uint32_t *head = ring_word(ring, ring->params.cq_off.head);
	struct io_uring_cqe *cqes = (void *)(ring->rings + ring->params.cq_off.cqes);
	int result;

	while (__atomic_load_n(ring_word(ring, ring->params.cq_off.tail), __ATOMIC_ACQUIRE) ==
	       *head)
		ring_enter(ring, 0, 1);
	result = cqes[*head & (ring->params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

/* Submits the one entry that is waiting; its result. */
static inline int ring_run(struct ring *ring)
{
	ring_enter(ring, 1, 1);
	return ring_result(ring);
}

/* One request with an address and a length. */
static inline int ring_do(struct ring *ring, uint8_t opcode, int fd, const void *addr, uint32_t len)
{
	struct io_uring_sqe *sqe = ring_next(ring, opcode, fd);

	sqe->addr = (uintptr_t)addr;
	sqe->len = len;
	return ring_run(ring);
}

/* The two-path requests have the second path in addr2, its folder in len. */
static inline int ring_paths(struct ring *ring, uint8_t opcode, const char *from, const char *to)
{
	struct io_uring_sqe *sqe = ring_next(ring, opcode, AT_FDCWD);

	sqe->addr = (uintptr_t)from;
	sqe->len = opcode == IORING_OP_SYMLINKAT ? 0 : (uint32_t)AT_FDCWD;
	sqe->addr2 = (uintptr_t)to;
	return ring_run(ring);
}

static inline int ring_openat(struct ring *ring, const char *path, int flags)
{
	struct io_uring_sqe *sqe = ring_next(ring, IORING_OP_OPENAT, AT_FDCWD);

	sqe->addr = (uintptr_t)path;
	sqe->open_flags = (uint32_t)flags;
	sqe->len = 0600;
	return ring_run(ring);
}

#endif
