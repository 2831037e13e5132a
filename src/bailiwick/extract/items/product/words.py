"""Words of shops, in the languages that most of them speak. Facts about languages, not about sites.

To be looked for in texts in lower case: a pattern that ignores case is tried at every character of a text.
"""

# ruff: noqa: RUF001 - words are written as they are written
import re


def _any_of(words: str) -> str:
    return "|".join(re.escape(word.strip()) for word in words.strip().splitlines() if word.strip())


BUY = re.compile(
    _any_of("""
add to cart
add to bag
add to basket
add to trolley
add to shopping
buy now
buy it now
in den warenkorb
in den einkaufswagen
jetzt kaufen
ajouter au panier
ajouter au caddie
acheter
añadir al carr
añadir a la cesta
agregar al carr
agregar a la bolsa
comprar
adicionar ao carrinho
adicionar à sacola
aggiungi al carrello
acquista
do koszyka
kup teraz
do košíka
do košíku
koupit
kúpiť
v košarico
u košaricu
dodaj u korpu
in winkelwagen
in mijn winkelwagen
bestellen
lägg i varukorg
lägg i kundvagn
læg i kurv
legg i handlekurv
lisää ostoskoriin
lisa ostukorvi
lisa korvi
pievienot grozam
ielikt grozā
į krepšelį
sepete ekle
kosárba
adaugă în coș
adauga in cos
στο καλάθι
в корзину
купить
у кошик
купити
в количката
カートに入れる
カートに追加
장바구니
구매하기
바로구매
加入購物車
加入购物车
放入購物車
立即購買
立即购买
הוסף לסל
קנה עכשיו
أضف إلى السلة
thêm vào giỏ
mua ngay
tambah ke keranjang
beli sekarang
หยิบใส่ตะกร้า
get tickets
buy tickets
comprar entradas
""")
)
BUY_MARK = re.compile(
    r"add[-_]?(?:item[-_]?)?(?:to[-_]?)?(?:cart|bag|basket)|buy[-_]?(?:now|button|btn)|(?:btn|button)[-_]?(?:cart|buy|basket)"
    r"|(?:cart|basket)[-_]?(?:add|button|btn)"
)
OUT_OF_STOCK = re.compile(
    _any_of("""
out of stock
sold out
currently unavailable
no longer available
not available
temporarily unavailable
this item has ended
listing has ended
is sold
ausverkauft
nicht verfügbar
nicht auf lager
derzeit nicht lieferbar
nicht mehr lieferbar
rupture de stock
épuisé
indisponible
agotado
sin existencias
sin stock
no disponible
esgotado
indisponível
esaurito
non disponibile
niet op voorraad
uitverkocht
niet leverbaar
slutsåld
ej i lager
udsolgt
ikke på lager
utsolgt
loppu varastosta
ei saatavilla
läbi müüdud
laost otsas
niedostępny
brak w magazynie
wyprzedany
vyprodáno
není skladem
vypredané
nie je skladom
ni na zalogi
razprodano
rasprodano
nije dostupno
elfogyott
nincs készleten
stoc epuizat
indisponibil
нет в наличии
нет на складе
распродано
немає в наявності
изчерпан
tükendi
stokta yok
εξαντλήθηκε
売り切れ
在庫切れ
품절
매진
缺貨
缺货
售罄
אזל מהמלאי
hết hàng
stok habis
""")
)
IN_STOCK = re.compile(
    _any_of("""
in stock
available now
ready to ship
auf lager
lieferbar
sofort verfügbar
vorrätig
en stock
disponible
em stock
em estoque
disponível
disponibile
op voorraad
i lager
på lager
varastossa
laos
noliktavā
ir pieejams
na stanie
dostępny
skladem
skladom
na sklade
na zalogi
na stanju
dostupno
raktáron
készleten
în stoc
in stoc
в наличии
есть на складе
в наявності
на склад
stokta
άμεσα διαθέσιμο
在庫あり
有貨
有货
現貨
현货
במלאי
còn hàng
""")
)
_SAID = re.compile("|".join(words.pattern for words in (BUY, OUT_OF_STOCK, IN_STOCK)))
_KEYS = frozenset(
    max(re.findall(r"\w+", phrase), key=len) for phrase in re.sub(r"\\(.)", r"\1", _SAID.pattern).split("|")
)
_RAW_KEYS = {key.encode(): key for key in _KEYS}
_STOPS = str.maketrans(dict.fromkeys(".,:;!?()[]|/-–—·*+'\"", " "))
_WIDE_STOPS = tuple(chr(stop) for stop in _STOPS if stop > 127)
_NARROW_STOPS = bytes(32 if code < 128 and code in _STOPS else code for code in range(256))


def keys_in(text: str) -> frozenset[str]:
    """Of the longest words of these phrases those that are in a text, however long."""
    for stop in _WIDE_STOPS:
        text = text.replace(stop, " ")
    words = text.encode("utf-8", "replace").translate(_NARROW_STOPS).split()
    return frozenset(_RAW_KEYS[word] for word in _RAW_KEYS.keys() & set(words))


def says_something(text: str) -> bool:
    """Whether any of these phrases may be in it: a quick look for their longest words, for most texts say nothing."""
    if not _KEYS.isdisjoint(text.translate(_STOPS).split()):
        return _SAID.search(text) is not None
    return text > "\u2e80" and _SAID.search(text) is not None  # written without spaces


CODE_LABEL = re.compile(
    r"""^\W*(?:
    sku | asin | upc\ code |
    (?:\w++\ )?(?:item|product|catalog(?:ue)?|article|part|stock|style|listing|post|ad|order)\ ?
        (?:no\.?|number|nr\.?|\#|code|id) |
    art(?:ikel)?\.?[\ -]?(?:nr|no|nummer|n°|nº)\.? | artikelnummer | bestell-?(?:nr|nummer)\.? |
    produkt-?(?:nr|nummer|id)\.? |
    r[ée]f(?:[ée]rence|erencia)?\.?(?:\ produit|\ du\ produit|\ article)? | referentie | riferimento |
    c[oó]d(?:igo|ice)?\.?(?:\ (?:de\ |do\ |del\ )?(?:produs|producto|produto|prodotto|articol[oi]))? |
    k[oó]d(?:\ (?:produktu|tovaru|zboží|výrobku|proizvoda))? | (?:š|s)ifra(?:\ (?:artikla|izdelka|proizvoda))? |
    koda(?:\ izdelka)? | objednac[ií]\ k[oó]d | katalogov[eé]\ (?:[čc][ií]slo) |
    nr\ (?:ref|kat|katalogowy|artykułu|produktu)\.? | cikksz[aá]m | termékkód |
    tootekood | preces\ kods | prekės\ kodas | tuotekoodi | tuotenumero | varenummer | varenr\.? | artikkelnr\.? |
    артикул | код(?:\ товара|\ продукта)? | 商品コード | 商品番号 | 品番 | 商品編號 | 商品编号 |
    상품번호 | 상품코드 | 모델번호 | מק"ט | מק״ט | ürün\ kodu | stok\ kodu
    )(?!\w)\s*[:：\#]?\s*""",
    re.X,
)
BRAND_LABEL = re.compile(
    r"^\W*(?:brand|marke|hersteller|marque|marca|merk|märke|merkki|značka|výrobce|výrobca|producent|producător|"
    r"blagovna znamka|"
    r"gyártó|бренд|производитель|марка|виробник|ブランド|브랜드|品牌|מותג)\s*[:：]?\s*"
)
