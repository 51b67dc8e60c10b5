// Conversations of our own in German, French and Spanish, and sixteen questions about them: the real sessions are English. Each message has
// the key by which a question names it.
export const OWN_SESSIONS = [
  {
    title: "Rechnungen als PDF",
    messages: [
      ["de1", "user", "Die Rechnungen werden seit gestern ohne Umlaute gedruckt. Kannst du nachsehen, warum die Schriftart fehlt?"],
      [
        "de2",
        "assistant",
        "Ich prüfe den Druckdienst. Die Schriftarten liegen im Verzeichnis fonts, das neue Abbild enthält es nicht mehr.",
      ],
      ["de3", "user", "Dann kopiere das Verzeichnis wieder in das Abbild. Außerdem dürfen die Kundennamen nie abgeschnitten werden."],
      ["de4", "assistant", "Erledigt. Lange Kundennamen brechen jetzt in eine zweite Zeile um, statt am Rand abgeschnitten zu werden."],
      ["de5", "user", "Wie lange werden die Belege eigentlich aufgehoben?"],
      ["de6", "assistant", "Die Belege bleiben zehn Jahre im Archiv; danach löscht sie ein nächtlicher Auftrag."],
      ["de7", "user", "Der Auftrag soll am Wochenende nicht laufen."],
      ["de8", "assistant", "Der nächtliche Auftrag läuft nun nur noch von Montag bis Freitag um drei Uhr."],
    ],
  },
  {
    title: "Réservations de salles",
    messages: [
      ["fr1", "user", "Les réservations faites après minuit apparaissent au mauvais jour. Peux-tu corriger cela ?"],
      [
        "fr2",
        "assistant",
        "Le serveur enregistre les heures en temps universel et le calendrier ne les convertit pas. J'ajoute la conversion.",
      ],
      ["fr3", "user", "Bien. On ne doit jamais envoyer deux courriels pour la même réservation."],
      ["fr4", "assistant", "J'ai ajouté une clé unique : un courriel déjà envoyé n'est plus renvoyé quand la tâche recommence."],
      ["fr5", "user", "Les utilisateurs se plaignent que l'annulation est trop lente."],
      [
        "fr6",
        "assistant",
        "L'annulation verrouillait toute la table ; maintenant elle ne verrouille que la ligne, et dure vingt millisecondes.",
      ],
    ],
  },
  {
    title: "Inventario del almacén",
    messages: [
      ["es1", "user", "El inventario muestra cantidades negativas cuando dos personas venden el mismo artículo."],
      ["es2", "assistant", "Las dos ventas leen la cantidad antes de escribirla. Voy a bloquear la fila durante la venta."],
      ["es3", "user", "También necesito que los proveedores reciban un aviso cuando queden menos de cinco unidades."],
      ["es4", "assistant", "Añadí el aviso: se envía una vez al día a cada proveedor con los artículos que se están agotando."],
      ["es5", "user", "No borres los artículos descatalogados, los contables los consultan."],
      ["es6", "assistant", "De acuerdo, los artículos descatalogados se ocultan en la tienda, pero permanecen en la base de datos."],
    ],
  },
];

/** Rows of the title of the session, kind, question, keys. */
export const OWN_QUESTIONS = [
  ["Rechnungen als PDF", "german", "Warum fehlte die Schrift auf der Rechnung?", ["de1", "de2"]],
  ["Rechnungen als PDF", "german", "Was passiert mit einem langen Namen eines Kunden?", ["de4", "de3"]],
  ["Rechnungen als PDF", "german", "Nach wie vielen Jahren wird ein Beleg gelöscht?", ["de6"]],
  ["Rechnungen als PDF", "german", "Wann laufen die nächtlichen Aufträge?", ["de8", "de7"]],
  ["Rechnungen als PDF", "german", "Welches Verzeichniss muss ins Abbild kopiert werden?", ["de3", "de2"]],
  ["Rechnungen als PDF", "german", "Was darf man nie abschneiden?", ["de3"]],
  ["Réservations de salles", "french", "Pourquoi une réservation apparaît-elle le mauvais jour ?", ["fr1", "fr2"]],
  ["Réservations de salles", "french", "Comment éviter d'envoyer plusieurs fois le même courriel ?", ["fr4", "fr3"]],
  ["Réservations de salles", "french", "Qu'est-ce qui verrouille la table pendant les annulations ?", ["fr6"]],
  ["Réservations de salles", "french", "De quoi un utilisateur s'est-il plaint ?", ["fr5"]],
  ["Réservations de salles", "french", "Où convertit-on l'heure du serveur ?", ["fr2"]],
  ["Inventario del almacén", "spanish", "¿Por qué había una cantidad negativa en el inventario?", ["es1", "es2"]],
  ["Inventario del almacén", "spanish", "¿Cuándo recibe el proveedor los avisos?", ["es3", "es4"]],
  ["Inventario del almacén", "spanish", "¿Se puede borrar un artículo descatalogado?", ["es5", "es6"]],
  ["Inventario del almacén", "spanish", "¿Qué filas se bloquean durante las ventas?", ["es2"]],
  ["Inventario del almacén", "spanish", "¿Quiénes consultan los artículos que ya no se venden?", ["es5", "es6"]],
];
