// Work stealing: every thread has a deque of tasks without locks (Chase and Lev's, with the orderings of Lê and others, PPoPP
// 2013), takes from its own and steals from others'; the tasks count the ways to place queens. Checked by the known numbers.
// suite: server
// size: 15 quick: 8 sweep: 12 13 14 15
// tsan: fences
#include <sched.h>
#include <stdatomic.h>

#include "include/team.h"

enum { SLOTS = 1024 };

struct task { unsigned columns, up, down; int row; };
struct deque {
    _Alignas(64) atomic_long top;
    _Alignas(64) atomic_long bottom;
    _Atomic(struct task *) slots[SLOTS];
};
struct worker {
    struct deque deque;
    uint64_t found;
};

static const uint64_t KNOWN[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

static int side;
static struct worker *workers;
// Tasks that are not finished; a task's parts are counted before it is done itself.
static atomic_long unfinished;
static atomic_long thefts;

// Whether there was room.
static int push(struct deque *deque, struct task *task) {
    long bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    long top = atomic_load_explicit(&deque->top, memory_order_acquire);
    if (bottom - top >= SLOTS) {
        return 0;
    }
    atomic_store_explicit(&deque->slots[bottom % SLOTS], task, memory_order_relaxed);
    if (!RACING) {
        atomic_thread_fence(memory_order_release);
    }
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
    return 1;
}

static struct task *pop(struct deque *deque) {
    long bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&deque->bottom, bottom, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    long top = atomic_load_explicit(&deque->top, memory_order_relaxed);
    struct task *task = NULL;
    if (top <= bottom) {
        task = atomic_load_explicit(&deque->slots[bottom % SLOTS], memory_order_relaxed);
        if (top < bottom) {
            return task;
        }
        // The last one: a thief may want it, too.
        if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed)) {
            task = NULL;
        }
    }
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
    return task;
}

static struct task *steal(struct deque *deque) {
    long top = atomic_load_explicit(&deque->top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long bottom = atomic_load_explicit(&deque->bottom, memory_order_acquire);
    if (top >= bottom) {
        return NULL;
    }
    struct task *task = atomic_load_explicit(&deque->slots[top % SLOTS], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed)) {
        return NULL;
    }
    return task;
}

static uint64_t count_ways(unsigned columns, unsigned up, unsigned down) {
    unsigned all = (1u << side) - 1;
    if (columns == all) {
        return 1;
    }
    uint64_t sum = 0;
    for (unsigned open = all & ~(columns | up | down); open; open &= open - 1) {
        unsigned bit = open & -open;
        sum += count_ways(columns | bit, (up | bit) << 1, (down | bit) >> 1);
    }
    return sum;
}

static struct task *new_task(unsigned columns, unsigned up, unsigned down, int row) {
    struct task *task = room(1, sizeof *task); //~ RACE task
    *task = (struct task){columns, up, down, row}; //~ RACE task
    return task;
}

static void run(struct worker *me, struct task *given) {
    struct task task = *given; //~ RACE task
    free(given); //~ RACE task
    if (task.row > side / 2) {
        me->found += count_ways(task.columns, task.up, task.down);
    } else {
        unsigned all = (1u << side) - 1;
        for (unsigned open = all & ~(task.columns | task.up | task.down); open; open &= open - 1) {
            unsigned bit = open & -open;
            struct task *part = new_task(task.columns | bit, (task.up | bit) << 1, (task.down | bit) >> 1, task.row + 1);
            atomic_fetch_add_explicit(&unfinished, 1, memory_order_relaxed);
            if (!push(&me->deque, part)) {
                run(me, part);
            }
        }
    }
    atomic_fetch_sub_explicit(&unfinished, 1, memory_order_relaxed);
}

static void body(long number) {
    struct worker *me = &workers[number];
    uint64_t state = (uint64_t)number + 1;
    if (number == 0) {
        run(me, new_task(0, 0, 0, 0));
        // There is enough for all: the first task goes to a thief.
        while (threads > 1 && atomic_load_explicit(&thefts, memory_order_relaxed) == 0) {
            sched_yield();
        }
    }
    while (atomic_load_explicit(&unfinished, memory_order_relaxed) > 0) {
        struct task *task = pop(&me->deque);
        if (!task && threads > 1) {
            long victim = next_below(&state, threads - 1);
            task = steal(&workers[victim + (victim >= number)].deque);
            if (task) {
                atomic_fetch_add_explicit(&thefts, 1, memory_order_relaxed);
            }
        }
        if (task) {
            run(me, task);
        } else {
            sched_yield();
        }
    }
}

int main(int count, char **words) {
    side = (int)arguments(count, words, 15, 4, sizeof KNOWN / sizeof *KNOWN - 1);
    workers = aligned_alloc(64, sizeof *workers * (size_t)threads);
    if (!workers) {
        fprintf(stderr, "not enough memory for so many threads: choose fewer\n");
        return 2;
    }
    for (int i = 0; i < threads; i++) {
        atomic_init(&workers[i].deque.top, 0);
        atomic_init(&workers[i].deque.bottom, 0);
        for (int slot = 0; slot < SLOTS; slot++) {
            atomic_init(&workers[i].deque.slots[slot], NULL);
        }
        workers[i].found = 0;
    }
    atomic_init(&unfinished, 1);
    run_team(body);
    uint64_t found = 0;
    for (int i = 0; i < threads; i++) {
        found += workers[i].found;
    }
    return verdict(found == KNOWN[side], found);
}
