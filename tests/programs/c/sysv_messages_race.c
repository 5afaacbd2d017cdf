// Who sends a message of System V does not come after who receives it.
#include "../include/threads.h"

#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long kind;
    int number;
};

static int queue, data;

static void sends(void) {
    struct message message = {1, 2};
    MUST(msgsnd(queue, &message, sizeof message.number, 0) == 0);
    turn(2);
    printf("%d\n", data); //~ RACE data
}

static void receives(void) {
    struct message message;
    MUST(msgrcv(queue, &message, sizeof message.number, 0, 0) == sizeof message.number);
    turn(1);
    data = message.number; //~ RACE data
    next_turn();
}

int main(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    MUST(queue >= 0);
    together(sends, receives);
    msgctl(queue, IPC_RMID, NULL);
}
