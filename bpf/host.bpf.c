// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A host's part of a law: the congestion header as a TCP option on every segment, and a congestion
 * control that sends at the allowed rate.
 *
 * Both ends offer the option in their SYNs. Only if both do, later segments carry the option and
 * the congestion control is set. All other connections do not change. NoQ has no option: it is
 * set if the connection's own interface pauses when the next queue is full, or everywhere. */
#include "host/option.h"
#include "host/control.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
