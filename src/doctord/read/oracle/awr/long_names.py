"""Names that reports in plain text cut off where their columns end.

Columns for events are 26 to 44 letters wide, for statistics 32 or 33, for latches 24, for functions and pools of memory
15, for wait classes 10. Names that are not here stay cut off; events of a class other than `Other` are in
`wait_classes`.
"""

from typing import Final

WAIT_CLASSES: Final = ("Administrative", "Application", "Concurrency", "Configuration")
FUNCTIONS: Final = ("Archive Manager", "Buffer Cache Reads", "Inmemory Populate")
COMPONENTS: Final = (
    "ASM Buffer Cache",
    "DEFAULT 16K buffer cache",
    "DEFAULT 2K buffer cache",
    "DEFAULT 32K buffer cache",
    "DEFAULT 4K buffer cache",
    "DEFAULT 8K buffer cache",
    "DEFAULT buffer cache",
    "KEEP buffer cache",
    "RECYCLE buffer cache",
    "Shared IO Pool",
)
EVENTS: Final = """
Streams AQ: qmn coordinator idle wait
Streams AQ: qmn slave idle wait
Space Manager: slave idle wait
Streams AQ: waiting for messages in the queue
Streams AQ: waiting for time management or cleanup tasks
wait for unread message on broadcast channel
virtual circuit next request
SQL*Net message from dblink
ASM file metadata operation
CSS operation: data update
DLM cross inst call completion
LGWR intra group IO completion
LGWR worker group ordering
PX Deq Credit: free buffer
PX Deq: Slave Session Stats
change tracking file synchronous read
change tracking file synchronous write
enq: BF - allocation contention
enq: CO - master slave det
enq: CR - block range reuse ckpt
enq: CT - global space management
enq: DA - Slave Process Array
enq: JS - job run lock - synchronize
enq: RS - prevent aging list update
enq: RS - prevent file delete
gc current block congested
gc current grant congested
gc current grant read-mostly invalidation
gc current multi block request
gcs drm freeze in enter server mode
gcs remastering wait for read latch
gcs resource directory to be unfrozen
ges DFS hang analysis phase 2 acks
ges lms sync during dynamic remastering and reconfig
ges message buffer allocation
ges resource directory to be unfrozen
get branch/thread/sequence enqueue
global enqueue expand wait
ksxr poll remote instances
latch: active service list
latch: cache buffer handles
latch: cache buffers lru chain
latch: checkpoint queue latch
latch: enqueue hash chains
latch: ges resource hash list
latch: lob segment hash table latch
latch: object queue header operation
latch: parallel query alloc buffer
latch: virtual circuit queues
""".strip().splitlines()
LATCHES: Final = """
JS queue state obj latch
SQL memory manager latch
SQL memory manager workarea list latch
active checkpoint queue latch
channel handle pool latch
channel operations parent latch
compile environment latch
gcs partitioned table hash
gcs pcm hashed value bucket hash
gcs remaster request queue
ges enqueue table freelist
ges process parent latch
ges process table freelist
ges resource table freelist
hash table column usage latch
hash table modification latch
kokc descriptor allocation latch
lob segment dispenser latch
name-service namespace bucket
object queue header heap
object queue header operation
object stats modification
parallel query alloc buffer
redo gen encryption key structure
resmgr group change latch
session state list latch
shared server configuration
space background task latch
transaction branch allocation
""".strip().splitlines()
STATISTICS: Final = """
ASSM gsp:Optimized index block rejects
ASSM rsv:alloc from reserve succ
Clusterwide global transactions spanning RAC nodes
DBWR object drop buffers written
DBWR parallel query checkpoint buffers written
DBWR revisited being-written buffer
DBWR tablespace checkpoint buffers written
DBWR thread checkpoint buffers written
DX/BB enqueue lock background get time
DX/BB enqueue lock background gets
DX/BB enqueue lock foreground requests
HCC scan cell CUs decompression time
HCC scan rdbms CUs columns accessed
HCC scan rdbms CUs row pieces accessed
HCC scan rdbms CUs row pieces total
HCC scan rdbms bytes decompressed
HCC scan rdbms columns theoretical max
HSC Compressed Segment Block Changes
Heatmap BlkLevel Flushed to SYSAUX
Heatmap Blklevel Flush Task Count
IMU- failed to get a private strand
LOB table id lookup cache misses
OLAP Paging Manager Cache Changed Page
Parallel operations downgraded 25 to 50 pct
Parallel operations downgraded 50 to 75 pct
Parallel operations downgraded 75 to 99 pct
Parallel operations downgraded to serial
Parallel operations not downgraded
SCN increments due to another database
SMON posted for undo segment recovery
SMON posted for undo segment shrink
SQL*Net roundtrips to/from client
SQL*Net roundtrips to/from dblink
active txn count during cleanout
background checkpoints completed
bytes received via SQL*Net from client
bytes received via SQL*Net from dblink
bytes sent via SQL*Net to client
bytes sent via SQL*Net to dblink
bytes via SQL*Net vector to client
calls to get snapshot scn: kcmgss
cell blocks helped by commit cache
cell blocks helped by minscn optimization
cell blocks processed by cache layer
cell blocks processed by data layer
cell blocks processed by index layer
cell blocks processed by txn layer
cell flash cache read hits for controlfile reads
cell flash cache read hits for smart IO
cell num bytes in block IO during predicate offload
cell num bytes in passthru during predicate offload
cell num fast response sessions continuing to smart scan
cell num smartio automem buffer allocation attempts
cell num smartio transient cell failures
cell partial writes in flash cache
cell physical IO bytes eligible for predicate offload
cell physical IO bytes eligible for smart IOs
cell physical IO bytes saved by storage index
cell physical IO bytes saved during optimized file creation
cell physical IO bytes sent directly to DB node to balance CPU
cell physical IO interconnect bytes
cell physical IO interconnect bytes returned by smart scan
cell physical write bytes saved by smart file initialization
cell smart IO session cache hard misses
cell smart IO session cache hits
cell smart IO session cache lookups
cell smart IO session cache soft misses
cell transactions found in commit cache
cleanout - number of ktugct calls
cleanouts and rollbacks - consistent read gets
cleanouts only - consistent read gets
commit batch/immediate performed
commit batch/immediate requested
commit cleanout failures: block lost
commit cleanout failures: buffer being written
commit cleanout failures: callback failure
commit cleanout failures: cannot pin
commit cleanout failures: delayed log
commit cleanouts successfully completed
commit txn count during cleanout
consistent gets examination (fastpath)
consistent gets from cache (fastpath)
data blocks consistent reads - undo records applied
db block gets from cache (fastpath)
deferred (CURRENT) block cleanout applications
failed probes on index block reclamation
fastpath consistent get quota limit
gc cr multiblock grants received
gc current blocks received with BPS
gc current blocks served with BPS
global undo segment hints helped
hot buffers moved to head of LRU
immediate (CR) block cleanout applications
immediate (CURRENT) block cleanout applications
index fast full scans (direct read)
index fast full scans (rowid ranges)
index reclamation/extension switch
java call heap live object count
java call heap live object count max
java session heap live object count
java session heap live object count max
java session heap object count max
min active SCN optimization applied on CR
physical read requests optimized
physical read snap IO requests no data
physical read total bytes optimized
physical read total multi block requests
physical reads direct temporary tablespace
physical write requests optimized
physical write total IO requests
physical write total bytes optimized
physical write total multi block requests
physical writes direct temporary tablespace
prefetch warmup blocks aged out before use
prefetch warmup blocks flushed out before use
prefetched blocks aged out before use
recursive aborts on index block reclamation
redo KB read (memory) for transport
redo blocks checksummed by FG (exclusive)
redo entries for lost write detection
redo size for lost write detection
redo synch time overhead count ( 2ms)
redo synch time overhead count ( 32ms)
redo synch time overhead count ( 8ms)
redo synch time overhead count (128ms)
redo synch time overhead count (inf)
redo write broadcast lgwr post count
rollback changes - undo records applied
rollbacks only - consistent read gets
securefile bytes non-transformed
securefile number of non-transformed flushes
segment chunks allocation from dispenser
shared hash latch upgrades - no wait
shared hash latch upgrades - wait
shared io pool buffer get success
switch current caused by our pin
table scan disk non-IMC rows gotten
total number of times SMON posted
transaction lock background gets
transaction lock foreground requests
transaction tables consistent read rollbacks
transaction tables consistent reads - undo records applied
write clones created in background
write clones created in foreground
""".strip().splitlines()
