import sys, collections
sys.path.insert(0, __file__.rpartition('/')[0])
import check_layers_of_rooms as c
rules=c.parse_query(sys.stdin.read())
pk=sorted({c.package_of(r.name) for r in rules})
def layer(p): 
    if p.startswith('gates/deployments'): return 'gates/deployments'
    if p.startswith('tools/'): return 'tools'
    return p
names={r.name for r in rules}
e=collections.defaultdict(lambda:[set(),set()])
for r in rules:
    if r.name in c._ENTRY_POINTS: continue
    L=layer(c.package_of(r.name))
    e[L]
    for t in r.inputs:
        if t.startswith('@'):
            rep=t[1:].split('//')[0]
            if rep in c._UNLAYERED_REPOSITORIES: continue
            x='@'+rep
        elif t in names: x='//'+layer(c.package_of(t))
        else: continue
        if x!='//'+L: e[L][r.testonly].add(x)
for L in sorted(e):
    p,t=e[L]
    print('%s: %s'%(L,' '.join(sorted(p))))
    if t-p: print('%s testonly: %s'%(L,' '.join(sorted(t-p))))
