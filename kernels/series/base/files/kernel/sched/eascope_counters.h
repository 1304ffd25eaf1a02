/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of /sys/kernel/debug/sched/eascope/stats, one row each.
 */

/* Wakeups for which a CPU was chosen. */
EASCOPE_COUNTER(select_wakeup),
/* Of these: EAS was asked; it chose another CPU than the previous; it had no answer. */
EASCOPE_COUNTER(feec_called),
EASCOPE_COUNTER(feec_moved),
EASCOPE_COUNTER(feec_none),
/* Wakeups that took no decision: the task was on its runqueue, waiting for its dequeue. */
EASCOPE_COUNTER(ttwu_delayed),
/* Wakeups and forks whose CPU was forced; the same, but the task may not run there. */
EASCOPE_COUNTER(forced),
EASCOPE_COUNTER(force_refused),
/* Changes of the root domain's overutilized mark. */
EASCOPE_COUNTER(overutilized_set),
EASCOPE_COUNTER(overutilized_cleared),
/* Load balance: sleepers that were moved, for their load. */
EASCOPE_COUNTER(lb_pulled_asleep),
/* Load balance: tasks moved; of these, running ones; sleepers that were refused. */
EASCOPE_COUNTER(lb_pulled),
EASCOPE_COUNTER(lb_active),
EASCOPE_COUNTER(lb_delayed),
