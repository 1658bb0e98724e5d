// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Finds out whether a network namespace is alive. Only the kernel knows: bind mounts, open
 * files, sockets and threads keep a namespace alive, and may all be invisible to the process
 * that asks. */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Maximum number of namespaces of one walk. */
#define MOST (1 << 20)

/* The answers, as `crates/live/src/pins/namespace.rs` knows them. */
#define NAMESPACE_UNKNOWN 0
#define NAMESPACE_ALIVE 1
#define NAMESPACE_GONE 2

struct walk {
	__u64 inode;
	__u64 cookie;
	/* Where the walk began, and where it is. */
	struct net *own;
	struct net *at;
	int answer;
};

/* Examines one namespace and goes on to the next; returns 1 at the end of the walk. */
static long step(__u32 index, struct walk *walk)
{
	struct net *net = walk->at;
	struct list_head *next = BPF_CORE_READ(net, list.next);

	if (BPF_CORE_READ(net, ns.inum) == walk->inode && BPF_CORE_READ(net, net_cookie) == walk->cookie) {
		walk->answer = NAMESPACE_ALIVE;
		return 1;
	}
	if (!next)
		return 1;
	walk->at = (void *)next - bpf_core_field_offset(struct net, list);
	if (walk->at == walk->own) {
		walk->answer = NAMESPACE_GONE;
		return 1;
	}
	return 0;
}

/* Walks the kernel's list of all network namespaces, from the caller's own until the walk is back
 * there. The list is a ring, whose head belongs to no namespace: what `step` reads around the head
 * is never an inode number with its namespace's cookie. The kernel runs the program in an RCU read
 * section: no namespace is freed meanwhile. */
SEC("raw_tp")
int ratewire_namespace(struct bpf_raw_tracepoint_args *asked)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct walk walk = { .answer = NAMESPACE_UNKNOWN };

	walk.inode = asked->args[0];
	walk.cookie = asked->args[1];
	walk.own = walk.at = BPF_CORE_READ(task, nsproxy, net_ns);
	bpf_loop(MOST, step, &walk, 0);
	return walk.answer;
}
