// A library that nobody instruments. It synchronises by itself, with atomics and system calls that nobody sees.
#ifndef OPAQUE_H
#define OPAQUE_H

#ifdef __cplusplus
extern "C" {
#endif

// A queue behind a spin lock. `opaque_pop` waits for something to be there.
struct opaque_queue;
struct opaque_queue *opaque_queue_new(void);
void opaque_push(struct opaque_queue *queue, void *item);
void *opaque_pop(struct opaque_queue *queue);
void opaque_queue_free(struct opaque_queue *queue);

// An object of the user's with a count of its users. The last one to drop it calls `destroy`.
struct opaque_counted;
struct opaque_counted *opaque_counted_new(void *object, void (*destroy)(void *object));
void *opaque_object(struct opaque_counted *counted);
void opaque_take(struct opaque_counted *counted);
void opaque_drop(struct opaque_counted *counted);

// Threads that run the user's functions. `opaque_wait` waits until all that was submitted has been done.
struct opaque_pool;
struct opaque_pool *opaque_pool_new(int threads);
void opaque_submit(struct opaque_pool *pool, void (*function)(void *argument), void *argument);
void opaque_wait(struct opaque_pool *pool);
void opaque_pool_free(struct opaque_pool *pool);

// The library's one lock.
void opaque_lock(void);
void opaque_unlock(void);

// A lock of many, named by a number.
void opaque_lock_number(int number);
void opaque_unlock_number(int number);

// A place for a pointer. `opaque_get` waits for one that is not null.
struct opaque_slot;
struct opaque_slot *opaque_slot_new(void);
void opaque_put(struct opaque_slot *slot, void *pointer);
void *opaque_get(struct opaque_slot *slot);
void opaque_slot_free(struct opaque_slot *slot);

// The same for the place that is `at` in a table of the user's. `opaque_look` does not wait, and finds nothing in no place.
void *opaque_look(struct opaque_slot **table, int at);
void *opaque_get_from(struct opaque_slot **table, int at);

// The same for a place that a node of the user's has: word `place` of what word `at` of a block leads to.
void *opaque_get_by(void *block, int at, int place);

// Waits for a place to be put into a table of the user's, takes it out again, and waits for what comes there.
void *opaque_get_when(_Atomic(struct opaque_slot *) *table, int at);

// Raises and awaits a flag that a table of the user's leads to.
void opaque_raise_from(_Atomic int **table, int at);
void opaque_await_in(_Atomic int **table, int at);

// A flag of the user's, which may be looked at and raised by atomic operations as well. `opaque_await` waits for it.
void opaque_raise(_Atomic int *flag);
void opaque_await(_Atomic int *flag);

// Calls back for each of `count` elements of `array`, under the library's lock.
void opaque_each(const int *array, int count, void (*callback)(int element, void *argument), void *argument);

// Orders nothing.
int opaque_nothing(int number);

#ifdef __cplusplus
}
#endif

#endif
