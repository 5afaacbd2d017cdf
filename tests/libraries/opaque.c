// See opaque.h. Compiled by the system's own compiler into a shared library.
#include "opaque.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static void spin(atomic_int *lock) {
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) {
        sched_yield();
    }
}

static void unspin(atomic_int *lock) {
    atomic_store_explicit(lock, 0, memory_order_release);
}

struct node {
    struct node *next;
    void *item;
};

struct opaque_queue {
    atomic_int lock;
    struct node *first, **last;
};

struct opaque_queue *opaque_queue_new(void) {
    struct opaque_queue *queue = calloc(1, sizeof *queue);
    queue->last = &queue->first;
    return queue;
}

void opaque_push(struct opaque_queue *queue, void *item) {
    struct node *node = calloc(1, sizeof *node);
    node->item = item;
    spin(&queue->lock);
    *queue->last = node;
    queue->last = &node->next;
    unspin(&queue->lock);
}

static int try_pop(struct opaque_queue *queue, void **item) {
    spin(&queue->lock);
    struct node *node = queue->first;
    if (node) {
        queue->first = node->next;
        if (!queue->first) {
            queue->last = &queue->first;
        }
        *item = node->item;
    }
    unspin(&queue->lock);
    free(node);
    return node != NULL;
}

void *opaque_pop(struct opaque_queue *queue) {
    void *item;
    while (!try_pop(queue, &item)) {
        sched_yield();
    }
    return item;
}

void opaque_queue_free(struct opaque_queue *queue) {
    free(queue);
}

struct opaque_counted {
    atomic_int count;
    void *object;
    void (*destroy)(void *object);
};

struct opaque_counted *opaque_counted_new(void *object, void (*destroy)(void *object)) {
    struct opaque_counted *counted = calloc(1, sizeof *counted);
    atomic_init(&counted->count, 1);
    counted->object = object;
    counted->destroy = destroy;
    return counted;
}

void *opaque_object(struct opaque_counted *counted) {
    return counted->object;
}

void opaque_take(struct opaque_counted *counted) {
    atomic_fetch_add_explicit(&counted->count, 1, memory_order_relaxed);
}

void opaque_drop(struct opaque_counted *counted) {
    if (atomic_fetch_sub_explicit(&counted->count, 1, memory_order_acq_rel) == 1) {
        counted->destroy(counted->object);
        free(counted);
    }
}

struct job {
    void (*function)(void *argument);
    void *argument;
};

struct opaque_pool {
    struct opaque_queue *jobs;
    atomic_int left;
    int threads;
    pthread_t thread[];
};

static void *worker(void *argument) {
    struct opaque_pool *pool = argument;
    for (;;) {
        struct job *job = opaque_pop(pool->jobs);
        if (!job) {
            return NULL;
        }
        job->function(job->argument);
        free(job);
        atomic_fetch_sub_explicit(&pool->left, 1, memory_order_release);
    }
}

struct opaque_pool *opaque_pool_new(int threads) {
    struct opaque_pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->thread[0]);
    pool->jobs = opaque_queue_new();
    pool->threads = threads;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&pool->thread[i], NULL, worker, pool)) {
            abort();
        }
    }
    return pool;
}

void opaque_submit(struct opaque_pool *pool, void (*function)(void *argument), void *argument) {
    struct job *job = calloc(1, sizeof *job);
    job->function = function;
    job->argument = argument;
    atomic_fetch_add_explicit(&pool->left, 1, memory_order_relaxed);
    opaque_push(pool->jobs, job);
}

void opaque_wait(struct opaque_pool *pool) {
    while (atomic_load_explicit(&pool->left, memory_order_acquire)) {
        sched_yield();
    }
}

void opaque_pool_free(struct opaque_pool *pool) {
    for (int i = 0; i < pool->threads; i++) {
        opaque_push(pool->jobs, NULL);
    }
    for (int i = 0; i < pool->threads; i++) {
        pthread_join(pool->thread[i], NULL);
    }
    opaque_queue_free(pool->jobs);
    free(pool);
}

static atomic_int the_lock;

void opaque_lock(void) {
    spin(&the_lock);
}

void opaque_unlock(void) {
    unspin(&the_lock);
}

static atomic_int numbered[64];

void opaque_lock_number(int number) {
    spin(&numbered[number]);
}

void opaque_unlock_number(int number) {
    unspin(&numbered[number]);
}

struct opaque_slot {
    _Atomic(void *) pointer;
};

struct opaque_slot *opaque_slot_new(void) {
    return calloc(1, sizeof(struct opaque_slot));
}

void opaque_put(struct opaque_slot *slot, void *pointer) {
    atomic_store_explicit(&slot->pointer, pointer, memory_order_release);
}

void *opaque_get(struct opaque_slot *slot) {
    for (;;) {
        void *pointer = atomic_load_explicit(&slot->pointer, memory_order_acquire);
        if (pointer) {
            return pointer;
        }
        sched_yield();
    }
}

void opaque_slot_free(struct opaque_slot *slot) {
    free(slot);
}

void *opaque_look(struct opaque_slot **table, int at) {
    return table[at] ? atomic_load_explicit(&table[at]->pointer, memory_order_acquire) : NULL;
}

void *opaque_get_from(struct opaque_slot **table, int at) {
    return opaque_get(table[at]);
}

void *opaque_get_by(void *block, int at, int place) {
    return opaque_get(((struct opaque_slot ***)block)[at][place]);
}

void *opaque_get_when(_Atomic(struct opaque_slot *) *table, int at) {
    for (;;) {
        struct opaque_slot *slot = atomic_exchange_explicit(&table[at], NULL, memory_order_relaxed);
        if (slot) {
            return opaque_get(slot);
        }
        sched_yield();
    }
}

void opaque_raise(_Atomic int *flag) {
    atomic_store_explicit(flag, 1, memory_order_release);
}

void opaque_raise_from(_Atomic int **table, int at) {
    opaque_raise(table[at]);
}

void opaque_await(_Atomic int *flag) {
    while (!atomic_load_explicit(flag, memory_order_acquire)) {
        sched_yield();
    }
}

void opaque_await_in(_Atomic int **table, int at) {
    opaque_await(table[at]);
}

void opaque_each(const int *array, int count, void (*callback)(int element, void *argument), void *argument) {
    spin(&the_lock);
    for (int i = 0; i < count; i++) {
        callback(array[i], argument);
    }
    unspin(&the_lock);
}

int opaque_nothing(int number) {
    return number;
}
