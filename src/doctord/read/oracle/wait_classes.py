"""Classes of wait events, for reports that do not print them: Statspack, and AWR before 11g in most sections.

Taken from V$EVENT_NAME.WAIT_CLASS of 10.2 to 23ai, with names that 8i and 9i used. Only classes that an analysis looks
at are listed; whatever is in none of them is `Other`, as most events are.
"""

from functools import lru_cache
from typing import Final

_CLASSES: Final = {
    "User I/O": """
        ASM IO for non-blocking poll; BFILE read; Disk file I/O Calibration; Disk file Mirror Read;
        Disk file operations I/O; DG Broker configuration file I/O; Parameter File I/O;
        cell list of blocks physical read; cell list of blocks read request; cell multiblock physical read;
        cell multiblock read request; cell physical read no I/O; cell single block physical read;
        cell single block physical read: RDMA; cell single block physical read: flash cache;
        cell single block physical read: pmem cache; cell single block physical read: xrmem cache;
        cell single block read request; cell smart file creation; cell smart index scan; cell smart table scan;
        cell smart table scan: db timeout; cell statistics gather; cell external table smart scan;
        data file init write; db file parallel read; db file scattered read; db file sequential read;
        db file single write; dbms_file_transfer I/O; direct path read; direct path read (lob);
        direct path read temp; direct path sync; direct path write; direct path write (lob); direct path write temp;
        external table read; external table write; flashback log file sync; local write wait; read by other session;
        secondary event; securefile direct-read completion; securefile direct-write completion; utl_file I/O
    """,
    "System I/O": """
        ARCH random i/o; ARCH sequential i/o; ARCH wait for pending I/Os; Archiver slave I/O; DBWR slave I/O;
        LGWR random i/o; LGWR sequential i/o; LGWR slave I/O; Log archive I/O; RFS random i/o; RFS sequential i/o;
        RFS write; RMAN backup & recovery I/O; Standby redo I/O; async disk IO; control file parallel write;
        control file sequential read; control file single write; db file async I/O submit; db file parallel write;
        flashback log file read; flashback log file write; io done; kfk: async disk IO; ksfd: async disk IO;
        log file parallel write; log file sequential read; log file single write; recovery read
    """,
    "Commit": "log file sync; nologging standby txn commit; remote log force - commit",
    "Concurrency": """
        Shared IO Pool Memory; buffer busy waits; cursor: mutex S; cursor: mutex X; cursor: pin S;
        cursor: pin S wait on X; cursor: pin X; enq: TX - index contention; enq: WG - lock fso;
        latch: In memory undo latch; latch: MQL Tracking Latch; latch: MGA heap latch;
        latch: MGA shared context latch; latch: MGA shared context root latch; latch: Undo Hint Latch;
        latch: cache buffers chains; latch: library cache; latch: library cache lock; latch: library cache pin;
        latch: row cache objects; latch: shared pool; libcache interrupt action by LCK; library cache load lock;
        library cache lock; library cache pin; library cache: bucket mutex X; library cache: dependency mutex X;
        library cache: mutex S; library cache: mutex X; log file sync: SCN ordering; logout restrictor;
        os thread startup; pipe put; resmgr:internal state change; row cache lock; row cache mutex; row cache read;
        buffer busy; kgl lock; mutex
    """,
    "Application": """
        SQL*Net break/reset to client; SQL*Net break/reset to dblink;
        Streams capture: filter callback waiting for ruleset; Streams: apply reader waiting for DDL to apply;
        Wait for Table Lock; enq: KO - fast object checkpoint; enq: PW - flush prewarm buffers;
        enq: RC - Result Cache: Contention; enq: RO - contention; enq: RO - fast object reuse; enq: TM - contention;
        enq: TX - row lock contention; enq: UL - contention; ktfbtgex; enq: PW - perwarm status in dbw0
    """,
    "Configuration": """
        Global transaction acquire instance locks; checkpoint completed; enq: HW - contention; enq: SQ - contention;
        enq: SS - contention; enq: ST - contention; enq: SV - contention; enq: TX - allocate ITL entry;
        free buffer waits; latch: redo copy; latch: redo writing; log buffer space;
        log file switch (archiving needed); log file switch (checkpoint incomplete);
        log file switch (private strand flush incomplete); log file switch completion; sort segment request;
        statement suspended, wait error to be cleared; undo segment extension; undo segment tx slot;
        undo segment recovery; wait for EMON to process ntfns; wait for possible quiesce finish;
        write complete waits; write complete waits: flash cache; flashback buf free by RVWR; latch: flashback;
        log file switch (clearing log file)
    """,
    "Administrative": """
        ASM mount : wait for heartbeat; Backup: sbtbackup; Backup: sbtclose; Backup: sbtclose2; Backup: sbtend;
        Backup: sbterror; Backup: sbtinfo; Backup: sbtinfo2; Backup: sbtinit; Backup: sbtinit2; Backup: sbtopen;
        Backup: sbtread; Backup: sbtread2; Backup: sbtremove; Backup: sbtremove2; Backup: sbtrestore;
        Backup: sbtwrite; Backup: sbtwrite2; Backup: MML commit backup piece; Backup: MML create a backup piece;
        Backup: MML delete backup piece; Backup: MML extended initialization; Backup: MML initialization;
        Backup: MML query backup piece; Backup: MML read backup piece; Backup: MML shutdown;
        Backup: MML write backup piece; JS coord start wait; JS kgl get object wait; JS kill job wait;
        alter rbs offline; alter system set dispatcher; buffer pool resize; concurrent I/O completion;
        enq: DB - contention; enq: TW - contention; enq: ZG - contention; index (re)build online cleanup;
        index (re)build lock or pin object; index (re)build online merge; index (re)build online start;
        multiple dbwriter suspend/resume for file offline; switch logfile command; switch undo - offline;
        wait for possible quiesce
    """,
    "Network": """
        ARCH wait for net re-connect; ARCH wait for netserver detach; ARCH wait for netserver init;
        ARCH wait on ATTACH; ARCH wait on DETACH; ARCH wait on SENDREQ; Data Guard network buffer stall reap;
        HS message to agent; IPC group service call; LGWR wait on ATTACH; LGWR wait on DETACH; LGWR wait on LNS;
        LGWR wait on SENDREQ; LNS wait on ATTACH; LNS wait on DETACH; LNS wait on LGWR; LNS wait on SENDREQ;
        Redo Transport Slave Startup; SQL*Net message from dblink; SQL*Net message to client;
        SQL*Net message to dblink; SQL*Net more data from client; SQL*Net more data from dblink;
        SQL*Net more data to client; SQL*Net more data to dblink; SQL*Net vector data from client;
        SQL*Net vector data from dblink; SQL*Net vector data to client; SQL*Net vector data to dblink;
        TCP Socket (KGAS); TEXT: URL_DATASTORE network wait; dispatcher listen timer; dedicated server timer;
        dispatcher shutdown; remote db file read; remote db file write; remote db operation; virtual circuit wait;
        ARCH Remote Write
    """,
    "Scheduler": """
        acknowledge over PGA limit; resmgr: I/O rate limit; resmgr:I/O prioritization; resmgr: become active;
        resmgr:become active; resmgr: cpu quantum; resmgr:cpu quantum; resmgr:large I/O queued;
        resmgr:small I/O queued; resmgr: pq queued; resmgr:pq queued; resmgr:internal state cleanup;
        resmgr:sessions to exit; resmgr: throughput limit; enq: JX - SQL statement queue;
        PX Queuing: statement queue; resmgr:waiting in run
    """,
    "Cluster": """
        buffer busy global CR; buffer busy global cache; gcs lock join; global cache busy; global cache cr request;
        global cache freelist wait; global cache null to s; global cache null to x; global cache open s;
        global cache open x; global cache s to x; lock busy; lock close; pi renounce write complete;
        remote log force - buffer read; remote log force - buffer send; remote log force - buffer update;
        remote log force - log switch/recovery; remote log force - session cleanout; retry contact SCN lock master;
        service monitor: inst recovery completion
    """,
    "Idle": """
        AQ Cross Master idle; AQPC idle; AQPC: new master; ARCH wait for archivelog lock; ASM background timer;
        ASM cluster membership changes; ASM cluster watchdog timer; BA: Performance API; CRS call completion;
        Connection Pool Broker timer; DIAG idle wait; Data Guard Broker: process exit; Data Guard: Gap Manager;
        Data Guard: Timer; Data Guard: controlfile update; EMON idle wait; EMON slave idle wait; GCR sleep;
        Global Transaction Recovery: idle; HS message from agent; IORM Scheduler Slave Idle Wait;
        JOX Jit Process Sleep; JS external job; KSV master wait; LGWR real time apply sync; LGWR worker group idle;
        LMS CR slave timer; LNS ASYNC archive log; LNS ASYNC control file txn; LNS ASYNC dest activation;
        LNS ASYNC end of log; LogMiner: client waiting for transaction; LogMiner: generate process: idle;
        LogMiner: preparer: idle; LogMiner: reader waiting for more redo;
        LogMiner: slave waiting for activate message; LogMiner: wakeup event for builder;
        LogMiner: wakeup event for preparer; LogMiner: wakeup event for reader; MRP redo arrival; Null event;
        OFS idle; PING; PL/SQL lock timer; PX Deq Credit: need buffer; PX Deq Credit: send blkd;
        PX Deq: Execute Reply; PX Deq: Execution Msg; PX Deq: Index Merge Close; PX Deq: Index Merge Execute;
        PX Deq: Index Merge Reply; PX Deq: Msg Fragment; PX Deq: Metadata Update; PX Deq: Par Recov Change Vector;
        PX Deq: Par Recov Execute; PX Deq: Par Recov Reply; PX Deq: Parse Reply; PX Deq: Table Q Normal;
        PX Deq: Table Q Sample; PX Deq: Txn Recovery Reply; PX Deq: Txn Recovery Start; PX Deq: Signal ACK;
        PX Deque wait; PX Idle Wait; PX Deq: kdcph_mai; PX Deq: kdcphc_ack; Queue Monitor IPC wait;
        Queue Monitor Shutdown Wait; Queue Monitor Slave Wait; Queue Monitor Wait;
        REPL Capture/Apply: RAC AQ qmn coordinator; RFS attach; RMA: IPC0 completion sync;
        Recovery Server Comm SGA setup wait; Replication Dequeue; SCM slave idle;
        SGA: MMAN sleep for component shrink; SQL*Net message from client;
        STREAMS capture process filter callback wait for ruleset; Space Manager: slave idle wait;
        Streams AQ: RAC qmn coordinator idle wait; Streams AQ: deallocate messages from Streams Pool;
        Streams AQ: delete acknowledged messages; Streams AQ: emn coordinator idle wait;
        Streams AQ: load balancer idle; Streams AQ: opt idle; Streams AQ: qmn coordinator idle wait;
        Streams AQ: qmn slave idle wait; Streams AQ: waiting for messages in the queue;
        Streams AQ: waiting for time management or cleanup tasks; Streams apply: waiting for dependency;
        Streams capture: waiting for archive log; Streams fetch slave: waiting for txns; VKRM Idle;
        VKTM Init Wait for GSGA; VKTM Logical Idle Wait; WCR: replay client notify; WCR: replay clock;
        WCR: replay lock order; WCR: replay paused; auto-sqltune: wait graph update; cell worker idle;
        class slave wait; client message; cmon timer; dispatcher timer; fbar timer; gcs for action;
        gcs remote message; gcs yield cpu; ges reconfiguration to start; ges remote message; gopp msggopp;
        heartbeat monitor sleep; heartbeat redo informer; i/o slave wait; iowp file id; iowp msg;
        jobq slave TJ process wait; jobq slave shutdown wait; jobq slave wait; kfnRCVRestart;
        lock manager wait for remote message; log file switch (idle); lreg timer; lsp timer; master wait;
        netp network; nsgr wait; null event; parallel dequeue wait; parallel recovery coordinator idle wait;
        parallel recovery coordinator waits for slave cleanup; parallel recovery slave idle wait;
        parallel recovery slave next change; pipe get; pman timer; pmon timer; pool server timer; queue messages;
        rdbms ipc message; rdbms ipc message block; recovery apply pending; recovery coordinator idle;
        recovery logmerger idle; recovery merger idle; recovery receiver idle; recovery sender idle;
        shared server idle wait; shared server timer; simulated log write delay; single-task message; slave wait;
        smon timer; virtual circuit next request; virtual circuit status;
        wait for unread message on broadcast channel; wait for unread message on multiple broadcast channels;
        wakeup time manager; watchdog main loop; wait for activate message; lgwr-lns wait on channel;
        unspecified wait event
    """,
}
# Families of events that are all of one class.
_FAMILIES: Final = (("gc ", "Cluster"), ("cell ", "User I/O"), ("Backup: ", "Administrative"), ("resmgr", "Scheduler"))
CLASS_OF: Final = {
    event.strip().replace("\n", " "): name for name, events in _CLASSES.items() for event in events.split(";")
}


@lru_cache(maxsize=4096)
def class_of(event: str) -> str:
    """The wait class of an event, as Oracle has it; `CPU` for the lines among events that are CPU time.

    >>> class_of("db file sequential read"), class_of("gc cr block 3-way"), class_of("latch free")
    ('User I/O', 'Cluster', 'Other')
    """
    found = CLASS_OF.get(event)
    if found is not None:
        return found
    if event in {"DB CPU", "CPU time", "background cpu time"}:
        return "CPU"
    return next((name for begin, name in _FAMILIES if event.startswith(begin)), "Other")
